/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <string.h>

#include "mcp/mcp-tools.h"

#define META "io.modelcontextprotocol/"
#define SUPPORTED "[\"" MCP_STATELESS "\"]"
#define INSTRUCTIONS                                                                                     \
	"Tools outside of this sandbox, which custody checks, counts and records. A call that needs an " \
	"approval is refused with a line that a person runs outside; then make the same call again."
#define REQUESTED_MAX 64

static const char revisions[][11] = {
	[MCP_2024_11_05] = "2024-11-05",
	[MCP_2025_03_26] = "2025-03-26",
	[MCP_2025_06_18] = "2025-06-18",
	[MCP_2025_11_25] = "2025-11-25",
};

static struct mcp_asker make_asker(struct mcp_text id, bool batch)
{
	struct mcp_asker a = { .batch = batch };

	if (id.len > 0)
		memcpy(a.id, id.at, id.len);
	a.id_len = id.len;
	return a;
}

static struct mcp_slot *find_free(struct mcp_server *s)
{
	for (size_t i = 0; i < MCP_CALLS; i++)
		if (!s->slots[i].used)
			return &s->slots[i];
	return NULL;
}

bool mcp_server_is_ready(const struct mcp_server *s)
{
	return !s->batch.active && find_free((struct mcp_server *)s);
}

/* --- requests ----------------------------------------------------------------------------------------------------------- */

static void initialize(struct mcp_server *s, const struct mcp_asker *a, const struct mcp_message *m)
{
	struct mcp_text wanted;
	struct mcp_answer x;

	if (a->batch || s->revision) {
		mcp_answer_error(s, a, MCP_INVALID_REQUEST,
				 a->batch ? "initialize must not be in a batch" : "initialized already");
		return;
	}
	if (mcp_json_get(m->params, "protocolVersion", &wanted) != 1 || !mcp_json_is(wanted, '"')) {
		mcp_answer_error(s, a, MCP_INVALID_PARAMS, "initialize needs protocolVersion, a string");
		return;
	}
	/* Another one than these: the client gets the last one, and decides. */
	s->revision = MCP_2025_11_25;
	for (enum mcp_revision r = MCP_2024_11_05; r < MCP_2025_11_25; r++)
		if (mcp_json_string_is(wanted, revisions[r]))
			s->revision = r;
	x = mcp_answer_begin(s, a);
	mcp_buffer_add_word(x.to, "\"protocolVersion\":\"");
	mcp_buffer_add_word(x.to, revisions[s->revision]);
	mcp_buffer_add_word(x.to,
			    "\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"" MCP_NAME
			    "\",\"version\":\"" PACKAGE_VERSION "\"},\"instructions\":\"" INSTRUCTIONS "\"");
	(void)mcp_answer_end(&x);
}

static void discover(struct mcp_server *s, const struct mcp_asker *a)
{
	struct mcp_answer x = mcp_answer_begin(s, a);

	mcp_buffer_add_word(x.to, "\"supportedVersions\":" SUPPORTED ",\"capabilities\":{\"tools\":{}},"
				  "\"instructions\":\"" INSTRUCTIONS
				  "\",\"ttlMs\":3600000,\"cacheScope\":\"private\"");
	(void)mcp_answer_end(&x);
}

static void call(struct mcp_server *s, const struct mcp_asker *a, const struct mcp_message *m)
{
	static const struct mcp_text nothing = { "{}", 2 };
	struct mcp_slot *slot = find_free(s);
	struct mcp_text name, arguments, tool;
	const int has = mcp_json_get(m->params, "arguments", &arguments);
	const char *why;

	if (mcp_json_get(m->params, "name", &name) != 1 || !mcp_json_is(name, '"') || name.len > MCP_ID_MAX) {
		mcp_answer_error(s, a, MCP_INVALID_PARAMS, "tools/call needs the name of a tool");
		return;
	}
	if (has < 0 || (has > 0 && !mcp_json_is(arguments, '{'))) {
		mcp_answer_error(s, a, MCP_INVALID_PARAMS, "arguments must be one object");
		return;
	}
	if (!mcp_tools_find(s, a, name, &tool))
		return;
	/* There is a free one: mcp_server_is_ready(), and of a batch one call at a time. */
	why = slot ? s->broker.call(s->broker.arg, (size_t)(slot - s->slots), tool, has ? arguments : nothing)
		   : "too many calls at once";
	if (why) {
		mcp_answer_refusal(s, a, mcp_word("failed"), mcp_word(why));
		return;
	}
	*slot = (struct mcp_slot){ .used = true, .asker = *a };
	s->batch.waits |= a->batch;
}

/* A revision without initialize has it in each request.  False: A got an error. */
static bool read_meta(struct mcp_server *s, struct mcp_asker *a, const struct mcp_message *m)
{
	struct mcp_buffer data = { .max = 4096 };
	struct mcp_text meta = { 0 }, wanted, capabilities;
	int has = mcp_json_get(m->params, "_meta", &meta);

	if (has > 0)
		has = mcp_json_get(meta, META "protocolVersion", &wanted);
	if (has == 0)
		return true;
	a->stateless = true;
	if (has < 0 || !mcp_json_is(wanted, '"')) {
		mcp_answer_error(s, a, MCP_INVALID_PARAMS, "_meta: protocolVersion must be one string");
		return false;
	}
	if (!mcp_json_string_is(wanted, MCP_STATELESS)) {
		mcp_buffer_add_word(&data, "{\"supported\":" SUPPORTED);
		if (wanted.len <= REQUESTED_MAX) {
			mcp_buffer_add_word(&data, ",\"requested\":");
			mcp_buffer_add_text(&data, wanted);
		}
		mcp_buffer_add_word(&data, "}");
		mcp_answer_error_data(s, a, MCP_UNSUPPORTED_REVISION, "Unsupported protocol version",
				      (struct mcp_text){ data.text, data.len });
		mcp_buffer_done(&data);
		return false;
	}
	if (mcp_json_get(meta, META "clientCapabilities", &capabilities) == 1 &&
	    mcp_json_is(capabilities, '{'))
		return true;
	mcp_answer_error(s, a, MCP_INVALID_PARAMS, "_meta: clientCapabilities must be one object");
	return false;
}

static void answer_ping(struct mcp_server *s, const struct mcp_asker *a)
{
	struct mcp_answer x = mcp_answer_begin(s, a);

	(void)mcp_answer_end(&x);
}

static void take_request(struct mcp_server *s, struct mcp_asker *a, const struct mcp_message *m)
{
	if (!read_meta(s, a, m))
		return;
	if (!a->stateless && mcp_message_is(m, "initialize"))
		initialize(s, a, m);
	else if (!a->stateless && mcp_message_is(m, "ping"))
		answer_ping(s, a);
	else if (!a->stateless && !s->revision)
		mcp_answer_error(
			s, a, MCP_INVALID_PARAMS,
			"neither initialize was sent, nor has the request a protocolVersion in _meta; "
			"supported there: " MCP_STATELESS);
	else if (a->stateless && mcp_message_is(m, "server/discover"))
		discover(s, a);
	else if (mcp_message_is(m, "tools/list"))
		mcp_tools_answer(s, a, m->params);
	else if (mcp_message_is(m, "tools/call"))
		call(s, a, m);
	else
		mcp_answer_error(s, a, MCP_METHOD_NOT_FOUND, "this server has tools only");
}

static void cancel(struct mcp_server *s, const struct mcp_message *m)
{
	struct mcp_text id;

	if (mcp_json_get(m->params, "requestId", &id) != 1)
		return;
	for (size_t i = 0; i < MCP_CALLS; i++) {
		struct mcp_slot *slot = &s->slots[i];

		if (!slot->used || slot->asker.id_len != id.len || memcmp(slot->asker.id, id.at, id.len) != 0)
			continue;
		/* Not one of a batch: no line is taken while one waits. */
		s->broker.drop(s->broker.arg, i);
		slot->used = false;
	}
}

static void take_message(struct mcp_server *s, struct mcp_text text, bool batch)
{
	const struct mcp_message m = mcp_message_parse(text);
	struct mcp_asker a = make_asker(m.id, batch);

	switch (m.kind) {
	case MCP_REQUEST:
		take_request(s, &a, &m);
		break;
	case MCP_NOTIFICATION:
		if (mcp_message_is(&m, "notifications/cancelled"))
			cancel(s, &m);
		break;
	case MCP_MALFORMED:
		mcp_answer_error(s, &a, MCP_INVALID_REQUEST, m.why);
		break;
	case MCP_REPLY:
		break;
	}
}

/* --- batches, which one revision has ------------------------------------------------------------------------------------ */

static void end_batch(struct mcp_server *s)
{
	const size_t begin = s->out.len;

	if (s->batch.out.len > 0) {
		mcp_buffer_add_word(&s->out, "[");
		mcp_buffer_add(&s->out, s->batch.out.text, s->batch.out.len);
		mcp_buffer_add_word(&s->out, "]\n");
	}
	if (s->out.full) {
		s->out.full = false;
		s->out.len = begin;
	}
	mcp_buffer_done(&s->batch.out);
	mcp_buffer_done(&s->batch.text);
	s->batch.active = false;
	s->batch.at = 0;
}

static void go_on(struct mcp_server *s)
{
	const struct mcp_text all = { s->batch.text.text, s->batch.text.len };
	struct mcp_text one;

	while (s->batch.active && !s->batch.waits) {
		if (mcp_json_item(all, &s->batch.at, &one))
			take_message(s, one, true);
		else
			end_batch(s);
	}
}

static size_t count_items(struct mcp_text array)
{
	struct mcp_text one;
	size_t n = 0;

	for (size_t at = 0; mcp_json_item(array, &at, &one);)
		n++;
	return n;
}

static void take_batch(struct mcp_server *s, struct mcp_text text)
{
	const struct mcp_asker a = { 0 };
	const size_t n = count_items(text);

	if (s->revision != MCP_2025_03_26 || n == 0 || n > MCP_BATCH_MAX) {
		mcp_answer_error(s, &a, MCP_INVALID_REQUEST,
				 s->revision != MCP_2025_03_26 ? "this revision of MCP has no batches"
							       : "a batch has 1 to 64 messages");
		return;
	}
	mcp_buffer_add_text(&s->batch.text, text);
	if (s->batch.text.full) {
		mcp_buffer_done(&s->batch.text);
		mcp_answer_error(s, &a, MCP_INTERNAL_ERROR, "out of memory");
		return;
	}
	s->batch.active = true;
	go_on(s);
}

/* --- lines -------------------------------------------------------------------------------------------------------------- */

void mcp_server_take(struct mcp_server *s, struct mcp_text line)
{
	const struct mcp_asker a = { 0 };

	while (line.len > 0 && strchr(" \t\r", line.at[line.len - 1]) && line.at[line.len - 1])
		line.len--;
	while (line.len > 0 && (*line.at == ' ' || *line.at == '\t')) {
		line.at++;
		line.len--;
	}
	if (line.len == 0)
		return;
	if (!mcp_json_is_valid(line))
		mcp_answer_error(s, &a, MCP_PARSE_ERROR, "not JSON, or nested too deeply");
	else if (mcp_json_is(line, '['))
		take_batch(s, line);
	else
		take_message(s, line, false);
}

void mcp_server_refuse_line(struct mcp_server *s)
{
	const struct mcp_asker a = { 0 };

	mcp_answer_error(s, &a, MCP_INVALID_REQUEST, "the message is too long");
}

static void finish(struct mcp_server *s, size_t i)
{
	if (s->slots[i].asker.batch)
		s->batch.waits = false;
	s->slots[i].used = false;
	go_on(s);
}

void mcp_server_answer(struct mcp_server *s, size_t slot, struct mcp_text line)
{
	mcp_answer_call(s, &s->slots[slot].asker, line);
	finish(s, slot);
}

void mcp_server_fail(struct mcp_server *s, size_t slot, const char *why)
{
	mcp_answer_refusal(s, &s->slots[slot].asker, mcp_word("failed"), mcp_word(why));
	finish(s, slot);
}

void mcp_server_done(struct mcp_server *s)
{
	mcp_buffer_done(&s->out);
	mcp_buffer_done(&s->list);
	mcp_buffer_done(&s->batch.text);
	mcp_buffer_done(&s->batch.out);
}
