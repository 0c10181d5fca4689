/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "mcp/mcp-memory.h"
#include "mcp/mcp-server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Lines of the client; one that begins with '<' is the broker's reply to the first call that waits, one with '[' of an odd
 * session is a batch, as the first byte of the input says.
 */
struct play {
	bool sent[MCP_CALLS];
	const char *list;
};

/* Memory that the sanitizer watches. */
char *mcp_memory_resize(char *old, size_t old_size, size_t size)
{
	(void)old_size;
	return size > MCP_OUT_MAX * 2 ? NULL : realloc(old, size);
}

void mcp_memory_free(char *old, size_t size)
{
	(void)size;
	free(old);
}

static const char *list(void *arg, struct mcp_buffer *to)
{
	const struct play *p = arg;

	if (p->list)
		mcp_buffer_add_word(to, p->list);
	return p->list ? NULL : "no connection";
}

static const char *call(void *arg, size_t slot, struct mcp_text tool, struct mcp_text arguments)
{
	struct play *p = arg;

	/* What the broker gets is two values of JSON, one of them an object. */
	if (p->sent[slot] || !mcp_json_is_valid(tool) || !mcp_json_is(tool, '"') ||
	    !mcp_json_is_valid(arguments) || !mcp_json_is(arguments, '{'))
		abort();
	p->sent[slot] = true;
	return NULL;
}

static void drop(void *arg, size_t slot)
{
	struct play *p = arg;

	if (!p->sent[slot])
		abort();
	p->sent[slot] = false;
}

/* Lines of valid JSON, also for the parser that has nothing of this one. */
static void require_output(struct mcp_server *s, bool strict)
{
	const char *at = s->out.text, *const end = at ? at + s->out.len : NULL;

	if (s->out.full)
		abort();
	while (at < end) {
		const char *lf = memchr(at, '\n', (size_t)(end - at));
		_cleanup_jdoc_ struct jdoc *d = NULL;

		if (!lf || !mcp_json_is_valid((struct mcp_text){ at, (size_t)(lf - at) }))
			abort();
		if (strict && jdoc_parse(at, (size_t)(lf - at), "out", NULL, &d, NULL) < 0)
			abort();
		at = lf + 1;
	}
	s->out.len = 0;
}

/* What the tree's parser takes in one line, this one takes as well. */
static void compare(const char *text, size_t len)
{
	static const struct jdoc_limits limits = { .depth_max = MCP_DEPTH_MAX };
	_cleanup_jdoc_ struct jdoc *d = NULL;

	/* The other one also skips a form feed and a vertical tab. */
	if (!memchr(text, '\r', len) && !memchr(text, '\f', len) && !memchr(text, '\v', len) &&
	    jdoc_parse(text, len, "in", &limits, &d, NULL) == 0 &&
	    !mcp_json_is_valid((struct mcp_text){ text, len }))
		abort();
}

static void answer(struct mcp_server *s, struct play *p, struct mcp_text line)
{
	for (size_t i = 0; i < MCP_CALLS; i++) {
		if (!s->slots[i].used)
			continue;
		p->sent[i] = false;
		mcp_server_answer(s, i, line);
		return;
	}
}

static void take(struct mcp_server *s, struct play *p, const char *text, size_t len)
{
	compare(text, len);
	if (len > 0 && *text == '<')
		answer(s, p, (struct mcp_text){ text + 1, len - 1 });
	else if (mcp_server_is_ready(s))
		mcp_server_take(s, (struct mcp_text){ text, len });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const lists[] = {
		"{\"ok\":true,\"data\":[{\"name\":\"git.push\",\"mcp\":\"git_push\",\"read\":false,"
		"\"params\":{}},"
		"{\"name\":\"ping\",\"mcp\":\"ping\",\"read\":true,\"description\":\"x\",\"params\":{"
		"\"type\":"
		"\"object\"}}]}",
		"{\"ok\":false,\"error\":\"not the token\",\"code\":\"token\"}",
		NULL,
		"{}",
	};
	struct play p = { .list = lists[size ? data[0] >> 4 & 3 : 0] };
	const struct mcp_broker broker = { .list = list, .call = call, .drop = drop, .arg = &p };
	struct mcp_server s = MCP_SERVER(broker);
	const char *at = (const char *)data, *const end = at + size;
	const bool strict = !memmem(data, size, "\\u", 2);

	if (size)
		s.revision = (enum mcp_revision)(*at++ % (MCP_2025_11_25 + 1));
	while (at < end) {
		const char *lf = memchr(at, '\n', (size_t)(end - at));
		const size_t len = lf ? (size_t)(lf - at) : (size_t)(end - at);

		take(&s, &p, at, len);
		require_output(&s, strict);
		at += len + (lf != NULL);
	}
	for (size_t i = 0; i < MCP_CALLS; i++) {
		if (s.slots[i].used != p.sent[i])
			abort();
		if (s.slots[i].used) {
			p.sent[i] = false;
			mcp_server_fail(&s, i, "over");
		}
		require_output(&s, strict);
	}
	mcp_server_done(&s);
	return 0;
}
