/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <string.h>

#include "mcp/mcp-answer.h"

#define SERVER_INFO "{\"name\":\"" MCP_NAME "\",\"version\":\"" PACKAGE_VERSION "\"}"

struct mcp_text mcp_word(const char *text)
{
	return (struct mcp_text){ text, strlen(text) };
}

struct mcp_text mcp_inside(struct mcp_text string)
{
	return (struct mcp_text){ string.at + 1, string.len - 2 };
}

static struct mcp_answer begin(struct mcp_server *s, const struct mcp_asker *a)
{
	struct mcp_answer x = { .to = a->batch ? &s->batch.out : &s->out, .batch = a->batch };

	x.begin = x.to->len;
	if (a->batch && x.to->len > 0)
		mcp_buffer_add_word(x.to, ",");
	mcp_buffer_add_word(x.to, "{\"jsonrpc\":\"2.0\"");
	if (a->id_len > 0) {
		mcp_buffer_add_word(x.to, ",\"id\":");
		mcp_buffer_add(x.to, a->id, a->id_len);
	} else if (s->revision != MCP_2025_11_25) {
		/* Later revisions leave it out. */
		mcp_buffer_add_word(x.to, ",\"id\":null");
	}
	return x;
}

static bool end(struct mcp_answer *x)
{
	mcp_buffer_add_word(x->to, x->batch ? "}" : "}\n");
	if (!x->to->full)
		return true;
	x->to->full = false;
	x->to->len = x->begin;
	return false;
}

struct mcp_answer mcp_answer_begin(struct mcp_server *s, const struct mcp_asker *a)
{
	struct mcp_answer x = begin(s, a);

	mcp_buffer_add_word(x.to, ",\"result\":{");
	if (a->stateless)
		mcp_buffer_add_word(x.to, "\"resultType\":\"complete\",\"_meta\":{"
					  "\"io.modelcontextprotocol/serverInfo\":" SERVER_INFO "},");
	return x;
}

bool mcp_answer_end(struct mcp_answer *x)
{
	mcp_buffer_add_word(x->to, "}");
	return end(x);
}

static struct mcp_answer begin_error(struct mcp_server *s, const struct mcp_asker *a, int number)
{
	struct mcp_answer x = begin(s, a);

	mcp_buffer_add_word(x.to, ",\"error\":{\"code\":");
	mcp_buffer_add_number(x.to, number);
	mcp_buffer_add_word(x.to, ",\"message\":\"");
	return x;
}

void mcp_answer_error_data(struct mcp_server *s, const struct mcp_asker *a, int code, const char *message,
			   struct mcp_text data)
{
	struct mcp_answer x = begin_error(s, a, code);

	mcp_buffer_add_word(x.to, message);
	mcp_buffer_add_word(x.to, data.len > 0 ? "\",\"data\":" : "\"");
	mcp_buffer_add_text(x.to, data);
	(void)mcp_answer_end(&x);
}

void mcp_answer_error(struct mcp_server *s, const struct mcp_asker *a, int code, const char *message)
{
	mcp_answer_error_data(s, a, code, message, (struct mcp_text){ 0 });
}

static void add_both(struct mcp_buffer *b, struct mcp_text code, struct mcp_text text)
{
	mcp_buffer_add_text(b, code);
	mcp_buffer_add_word(b, ": ");
	mcp_buffer_add_text(b, text);
}

void mcp_answer_problem(struct mcp_server *s, const struct mcp_asker *a, int number, struct mcp_text code,
			struct mcp_text text)
{
	struct mcp_answer x = begin_error(s, a, number);

	add_both(x.to, code, text);
	mcp_buffer_add_word(x.to, "\"");
	if (!mcp_answer_end(&x))
		mcp_answer_error(s, a, number, "the broker refused it");
}

void mcp_answer_refusal(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text code,
			struct mcp_text text)
{
	struct mcp_answer x = mcp_answer_begin(s, a);

	mcp_buffer_add_word(x.to, "\"content\":[{\"type\":\"text\",\"text\":\"");
	add_both(x.to, code, text);
	mcp_buffer_add_word(x.to, "\"}],\"isError\":true");
	if (!mcp_answer_end(&x))
		mcp_answer_error(s, a, MCP_INTERNAL_ERROR, "the broker refused it");
}

/* A text as it is, other data as its JSON. */
static void put_data(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text data)
{
	struct mcp_answer x = mcp_answer_begin(s, a);

	mcp_buffer_add_word(x.to, "\"content\":[{\"type\":\"text\",\"text\":\"");
	if (mcp_json_is(data, '"'))
		mcp_buffer_add_text(x.to, mcp_inside(data));
	else
		mcp_buffer_add_quoted(x.to, data);
	mcp_buffer_add_word(x.to, "\"}],\"isError\":false");
	if (!mcp_answer_end(&x))
		mcp_answer_refusal(s, a, mcp_word("output"),
				   mcp_word("the call was made, but its result is too long for this client"));
}

void mcp_answer_call(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text line)
{
	struct mcp_reply r;

	if (!mcp_reply_parse(line, &r))
		mcp_answer_refusal(s, a, mcp_word("failed"), mcp_word("the broker's reply cannot be read"));
	else if (r.ok)
		put_data(s, a, r.data);
	else if (mcp_json_string_is(r.code, "tool"))
		/* MCP has an error of the protocol for a tool that is not there. */
		mcp_answer_problem(s, a, MCP_INVALID_PARAMS, mcp_inside(r.code), mcp_inside(r.error));
	else
		mcp_answer_refusal(s, a, mcp_inside(r.code), mcp_inside(r.error));
}
