/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <string.h>

#include "mcp/mcp-tools.h"

#define CURSOR_DIGITS 6
#define TTL "3600000"

/* Asks the broker, and keeps its reply.  R: a refusal, in it. */
static const char *fetch(struct mcp_server *s, struct mcp_reply *r)
{
	const char *why = s->broker.list(s->broker.arg, &s->list);
	struct mcp_text line;

	if (why)
		return why;
	line = (struct mcp_text){ s->list.text, s->list.len };
	if (s->list.full || !mcp_reply_parse(line, r) || (r->ok && !mcp_json_is(r->data, '[')))
		return "the broker's list of tools cannot be read";
	if (r->ok)
		s->tools = r->data;
	return NULL;
}

static void refuse(struct mcp_server *s, const struct mcp_asker *a, bool call, struct mcp_text code,
		   struct mcp_text text)
{
	if (call)
		mcp_answer_refusal(s, a, code, text);
	else
		mcp_answer_problem(s, a, MCP_INTERNAL_ERROR, code, text);
}

static bool require_list(struct mcp_server *s, const struct mcp_asker *a, bool call)
{
	struct mcp_reply r = { .ok = true };
	const char *why;

	if (s->tools.len > 0)
		return true;
	why = fetch(s, &r);
	if (!why && r.ok)
		return true;
	if (why)
		refuse(s, a, call, mcp_word("failed"), mcp_word(why));
	else
		refuse(s, a, call, mcp_inside(r.code), mcp_inside(r.error));
	mcp_buffer_done(&s->list);
	return false;
}

/* 0: the first page.  False: not a cursor of this server. */
static bool parse_cursor(struct mcp_text params, size_t *ret)
{
	struct mcp_text cursor;
	const int has = mcp_json_get(params, "cursor", &cursor);

	*ret = 0;
	if (has <= 0)
		return has == 0;
	if (!mcp_json_is(cursor, '"') || cursor.len < 3 || cursor.len > CURSOR_DIGITS + 2 ||
	    cursor.at[1] == '0')
		return false;
	for (size_t i = 1; i < cursor.len - 1; i++) {
		if (cursor.at[i] < '0' || cursor.at[i] > '9')
			return false;
		*ret = *ret * 10 + (size_t)(cursor.at[i] - '0');
	}
	return *ret % MCP_PAGE == 0;
}

struct tool {
	struct mcp_text name, schema, description, read;
};

/* One of the broker's entries.  False: not one. */
static bool parse_tool(struct mcp_text entry, struct tool *ret)
{
	*ret = (struct tool){ 0 };
	return mcp_json_get(entry, "mcp", &ret->name) == 1 && mcp_json_is(ret->name, '"') &&
	       mcp_json_get(entry, "params", &ret->schema) == 1 &&
	       mcp_json_get(entry, "description", &ret->description) >= 0 &&
	       mcp_json_get(entry, "read", &ret->read) >= 0;
}

static void put_tool(struct mcp_buffer *b, const struct tool *t)
{
	mcp_buffer_add_word(b, "{\"name\":");
	mcp_buffer_add_text(b, t->name);
	if (t->description.len > 0)
		mcp_buffer_add_word(b, ",\"description\":");
	mcp_buffer_add_text(b, t->description);
	mcp_buffer_add_word(b, ",\"inputSchema\":");
	mcp_buffer_add_text(b, t->schema);
	if (mcp_json_is(t->read, 't'))
		mcp_buffer_add_word(b, ",\"annotations\":{\"readOnlyHint\":true}");
	mcp_buffer_add_word(b, "}");
}

/* Those from FIRST on; whether there are more. */
static bool put_page(struct mcp_buffer *b, struct mcp_text tools, size_t first)
{
	struct mcp_text entry;
	struct tool t;
	size_t i = 0;

	for (size_t at = 0; mcp_json_item(tools, &at, &entry);) {
		if (!parse_tool(entry, &t))
			continue;
		if (i == first + MCP_PAGE)
			return true;
		if (i > first)
			mcp_buffer_add_word(b, ",");
		if (i++ >= first)
			put_tool(b, &t);
	}
	return false;
}

void mcp_tools_answer(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text params)
{
	struct mcp_answer x;
	size_t first;

	if (!parse_cursor(params, &first)) {
		mcp_answer_error(s, a, MCP_INVALID_PARAMS, "not a cursor of this server");
		return;
	}
	if (!require_list(s, a, false))
		return;
	x = mcp_answer_begin(s, a);
	mcp_buffer_add_word(x.to, "\"tools\":[");
	if (put_page(x.to, s->tools, first)) {
		mcp_buffer_add_word(x.to, "],\"nextCursor\":\"");
		mcp_buffer_add_number(x.to, (long long)first + MCP_PAGE);
		mcp_buffer_add_word(x.to, "\"");
	} else {
		mcp_buffer_add_word(x.to, "]");
	}
	if (a->stateless)
		mcp_buffer_add_word(x.to, ",\"ttlMs\":" TTL ",\"cacheScope\":\"private\"");
	if (!mcp_answer_end(&x))
		mcp_answer_error(s, a, MCP_INTERNAL_ERROR, "the list of tools is too long");
}

bool mcp_tools_find(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text name,
		    struct mcp_text *ret)
{
	char text[MCP_ID_MAX];
	struct mcp_text entry;
	struct tool t;

	*ret = name;
	if (!require_list(s, a, true))
		return false;
	for (size_t at = 0; mcp_json_item(s->tools, &at, &entry);) {
		if (!parse_tool(entry, &t) || t.name.len > sizeof(text))
			continue;
		memcpy(text, t.name.at + 1, t.name.len - 2);
		text[t.name.len - 2] = '\0';
		if (mcp_json_string_is(name, text))
			return mcp_json_get(entry, "name", ret) == 1;
	}
	return true;
}
