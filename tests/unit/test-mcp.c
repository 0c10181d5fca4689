/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "mcp/mcp-server.h"

#include "tap.h"

#define TOOLS                                                                                                \
	"{\"ok\":true,\"data\":[{\"name\":\"git.push\",\"mcp\":\"git_push\",\"read\":false,\"params\":{}},{" \
	"\"name\":"                                                                                          \
	"\"ping\",\"mcp\":\"ping\",\"read\":true,\"description\":\"x\",\"params\":{\"type\":\"object\"}}]}"
#define CALL(id, name) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define META(revision, more)                                                           \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" revision "\"" more \
	",\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* A broker that says what the test says. */
static struct {
	const char *list, *failed;
	unsigned int lists, calls, dropped;
	char tool[64], arguments[256];
} broker;

static const char *list(void *arg, struct mcp_buffer *to)
{
	(void)arg;
	broker.lists++;
	mcp_buffer_add_word(to, broker.list);
	return NULL;
}

static const char *call(void *arg, size_t slot, struct mcp_text tool, struct mcp_text arguments)
{
	(void)arg;
	(void)slot;
	broker.calls++;
	memcpy(broker.tool, tool.at, tool.len);
	broker.tool[tool.len] = '\0';
	memcpy(broker.arguments, arguments.at, arguments.len);
	broker.arguments[arguments.len] = '\0';
	return broker.failed;
}

static void drop(void *arg, size_t slot)
{
	(void)arg;
	(void)slot;
	broker.dropped++;
}

static struct mcp_server start(enum mcp_revision revision)
{
	static const struct mcp_broker ops = { .list = list, .call = call, .drop = drop };
	struct mcp_server s = MCP_SERVER(ops);

	memset(&broker, 0, sizeof(broker));
	broker.list = TOOLS;
	s.revision = revision;
	return s;
}

/* All that the server says about LINE, without the last line's end; valid until the next one. */
static const char *say(struct mcp_server *s, const char *line)
{
	s->out.len = 0;
	mcp_server_take(s, (struct mcp_text){ line, strlen(line) });
	mcp_buffer_add(&s->out, "", 1);
	s->out.len--;
	if (s->out.len && s->out.text[s->out.len - 1] == '\n')
		s->out.text[--s->out.len] = '\0';
	return s->out.text;
}

static const char *answer(struct mcp_server *s, size_t slot, const char *line)
{
	s->out.len = 0;
	mcp_server_answer(s, slot, (struct mcp_text){ line, strlen(line) });
	mcp_buffer_add(&s->out, "", 1);
	return s->out.text;
}

static bool has(const char *text, const char *part)
{
	const bool found = strstr(text, part) != NULL;

	if (!found)
		printf("# wanted %s in %s\n", part, text);
	return found;
}

static bool is_json(const char *text, size_t len)
{
	return mcp_json_is_valid((struct mcp_text){ text, len });
}

static void DOOR_6_only_one_value_of_JSON_in_one_line_is_read(void)
{
	static const char *const good[] = {
		"0",	       "-1.5e+3", "\"\\u00e9\\n\"", "[]",  "{}",
		" [ 1 , {} ]", "null",	  "{\"a\":[{}]}",   "1e9", "\"\xf0\x9f\x98\x80\""
	};
	static const char *const bad[] = { "",
					   "01",
					   "1.",
					   "-",
					   "1e",
					   "+1",
					   "tru",
					   "truex",
					   "[1,]",
					   "{\"a\":1,}",
					   "{a:1}",
					   "[1 2]",
					   "\"",
					   "\"\\x\"",
					   "\"\\u12g4\"",
					   "\"\x01\"",
					   "{\"a\"}",
					   "1 2",
					   "[1\n]",
					   "[\r]",
					   "\"\xc0\x80\"",
					   "\"\xed\xa0\x80\"",
					   "\"\xf4\x90\x80\x80\"",
					   "\"\xe9\"",
					   "[}",
					   "{]",
					   "]",
					   "[",
					   "{\"a\":}" };
	char deep[2 * MCP_DEPTH_MAX + 3];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK(is_json(good[i], strlen(good[i])));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!is_json(bad[i], strlen(bad[i])));
	CHECK(!is_json("[\0]", 3));
	memset(deep, '[', MCP_DEPTH_MAX + 1);
	memset(deep + MCP_DEPTH_MAX + 1, ']', MCP_DEPTH_MAX + 1);
	CHECK(!is_json(deep, (MCP_DEPTH_MAX + 1) * 2));
	CHECK(is_json(deep + 1, (size_t)MCP_DEPTH_MAX * 2));
}

static void DOOR_6_each_revision_with_initialize_is_answered_with_itself(void)
{
	static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25" };
	char line[256], want[64];

	for (size_t i = 0; i < ARRAY_SIZE(revisions); i++) {
		struct mcp_server s = start(MCP_NONE);

		(void)snprintf(line, sizeof(line),
			       "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
			       "\"protocolVersion\":\"%s\"}}",
			       revisions[i]);
		(void)snprintf(want, sizeof(want), "\"protocolVersion\":\"%s\"", revisions[i]);
		CHECK(has(say(&s, line), want));
		CHECK(has(s.out.text, "\"capabilities\":{\"tools\":{}}"));
		CHECK(has(say(&s, line), "-32600"));
		mcp_server_done(&s);
	}
}

static void DOOR_6_an_unknown_revision_gets_the_last_one_with_initialize(void)
{
	struct mcp_server s = start(MCP_NONE);

	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
			  "\"protocolVersion\":\"1999-01-01\"}}"),
		  "2025-11-25"));
	mcp_server_done(&s);
	s = start(MCP_NONE);
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}"),
		  "-32602"));
	mcp_server_done(&s);
}

static void DOOR_6_a_request_that_names_its_revision_needs_no_initialize(void)
{
	struct mcp_server s = start(MCP_NONE);

	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"), "-32602"));
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META(
				  "2026-07-28", "") "}}"),
		  "\"supportedVersions\":[\"2026-07-28\"]"));
	CHECK(has(s.out.text, "\"resultType\":\"complete\"") && has(s.out.text, "\"ttlMs\":"));
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META(
				  "2026-07-28", "") "}}"),
		  "\"cacheScope\":\"private\""));
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META(
				  "1900-01-01", "") "}}"),
		  "-32022,\"message\":\"Unsupported protocol "
		  "version\",\"data\":{\"supported\":[\"2026-07-28\"],"
		  "\"requested\":\"1900-01-01\"}"));
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
			  "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}"),
		  "-32602"));
	/* It has neither of these two. */
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" META("2026-07-28",
												"") "}}"),
		  "-32601"));
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{" META(
				  "2026-07-28", "") "}}"),
		  "-32601"));
	mcp_server_done(&s);
}

static void DOOR_6_a_message_that_is_malformed_gets_an_error_and_calls_nothing(void)
{
	static const struct {
		const char *line, *code;
	} lines[] = {
		{ "{", "-32700" },
		{ "[", "-32700" },
		{ "7", "-32600" },
		{ "[]", "-32600" },
		{ "[" CALL("1", "ping") "]", "-32600" },
		{ "{\"id\":1,\"method\":\"ping\"}", "\"id\":1,\"error\":{\"code\":-32600" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"i\\u0064\":2,\"method\":\"ping\"}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"method\":\"ping\"}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", "-32600" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", "-32601" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"7\"}}",
		  "-32602" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":50}}",
		  "-32602" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", "-32602" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":7}}",
		  "-32602" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
		  "call\",\"params\":{\"name\":\"ping\",\"name\":\"a\"}}",
		  "-32602" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
		  "call\",\"params\":{\"name\":\"ping\",\"arguments\":[]}}",
		  "-32602" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct mcp_server s = start(MCP_2025_06_18);

		CHECK(has(say(&s, lines[i].line), lines[i].code));
		CHECK(broker.calls == 0);
		mcp_server_done(&s);
	}
}

static void DOOR_6_notifications_and_replies_get_no_answer(void)
{
	static const char *const lines[] = {
		"",
		" \t",
		"\r",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"ping\"}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}"
	};
	struct mcp_server s = start(MCP_2025_06_18);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		CHECK(!*say(&s, lines[i]));
	CHECK(broker.calls == 0 && broker.dropped == 0);
	mcp_server_done(&s);
}

static void DOOR_6_a_call_goes_to_the_broker_byte_for_byte(void)
{
	struct mcp_server s = start(MCP_2025_06_18);

	CHECK(!*say(&s,
		    "{\"jsonrpc\":\"2.0\",\"id\":\"x\\\"\",\"method\":\"tools\\/call\",\"params\":{\"name\":"
		    "\"git\\u005fpush\",\"arguments\":{ \"a\" : 1.50, \"a\":\"\\u00e9\" }}}\r"));
	CHECK(strcmp(broker.tool, "\"git.push\"") == 0);
	CHECK(strcmp(broker.arguments, "{ \"a\" : 1.50, \"a\":\"\\u00e9\" }") == 0);
	CHECK(has(
		answer(&s, 0, "{\"ok\":true,\"data\":{\"x\":\"y\\\"\\n\"}}"),
		"{\"jsonrpc\":\"2.0\",\"id\":\"x\\\"\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
		"\"{\\\"x\\\":\\\"y\\\\\\\"\\\\n\\\"}\"}],\"isError\":false}}\n"));
	/* A name that is no tool's is the broker's to refuse, and to record. */
	CHECK(!*say(&s, CALL("2", "other")));
	CHECK(strcmp(broker.tool, "\"other\"") == 0 && strcmp(broker.arguments, "{}") == 0);
	CHECK(has(answer(&s, 0, "{\"ok\":false,\"error\":\"no such\",\"code\":\"tool\"}"),
		  "\"error\":{\"code\":-32602,\"message\":\"tool: no such\"}"));
	CHECK(broker.lists == 1);
	mcp_server_done(&s);
}

static void DOOR_6_a_refusal_is_an_error_of_the_tool_with_code_and_text(void)
{
	static const char *const unreadable[] = { "", "{}", "{\"ok\":true}",
						  "{\"ok\":false,\"error\":7,\"code\":\"x\"}",
						  "{\"ok\":true,\"data\":{}" };
	struct mcp_server s = start(MCP_2025_06_18);

	(void)say(&s, CALL("1", "ping"));
	CHECK(has(answer(&s, 0, "{\"ok\":false,\"error\":\"say: custody approve 1\",\"code\":\"approval\"}"),
		  "\"text\":\"approval: say: custody approve 1\"}],\"isError\":true"));
	for (size_t i = 0; i < ARRAY_SIZE(unreadable); i++) {
		(void)say(&s, CALL("1", "ping"));
		CHECK(has(answer(&s, 0, unreadable[i]), "\"isError\":true"));
	}
	broker.failed = "no connection";
	CHECK(has(say(&s, CALL("1", "ping")), "\"text\":\"failed: no connection\"}],\"isError\":true"));
	CHECK(!s.slots[0].used);
	mcp_server_done(&s);
}

static void DOOR_6_without_the_list_nothing_is_called(void)
{
	struct mcp_server s = start(MCP_2025_06_18);

	broker.list = "{\"ok\":false,\"error\":\"not the token\",\"code\":\"token\"}";
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"),
		  "\"code\":-32603,\"message\":\"token: not the token\""));
	CHECK(has(say(&s, CALL("1", "ping")), "\"text\":\"token: not the token\"}],\"isError\":true"));
	broker.list = "{\"ok\":true,\"data\":7}";
	CHECK(has(say(&s, CALL("1", "ping")), "\"isError\":true"));
	CHECK(broker.calls == 0);
	/* A failure is not kept. */
	broker.list = TOOLS;
	CHECK(!*say(&s, CALL("1", "ping")));
	CHECK(broker.calls == 1);
	mcp_server_done(&s);
}

static void DOOR_6_a_cancelled_call_is_dropped_and_not_answered(void)
{
	struct mcp_server s = start(MCP_2025_06_18);

	(void)say(&s, CALL("1", "ping"));
	(void)say(&s, CALL("\"1\"", "ping"));
	CHECK(!*say(
		&s,
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"));
	CHECK(broker.dropped == 1 && !s.slots[0].used && s.slots[1].used);
	mcp_server_done(&s);
}

static void DOOR_6_no_line_is_taken_while_all_calls_are_in_use(void)
{
	struct mcp_server s = start(MCP_2025_06_18);

	for (size_t i = 0; i < MCP_CALLS; i++) {
		CHECK(mcp_server_is_ready(&s));
		CHECK(!*say(&s, CALL("1", "ping")));
	}
	CHECK(!mcp_server_is_ready(&s));
	CHECK(has(answer(&s, 3, "{\"ok\":true,\"data\":\"pong\"}"), "\"text\":\"pong\""));
	CHECK(mcp_server_is_ready(&s));
	mcp_server_done(&s);
}

static void DOOR_6_the_revision_with_batches_answers_them_in_one(void)
{
	struct mcp_server s = start(MCP_2025_03_26);

	CHECK(!*say(&s, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}," CALL("2", "ping") "," CALL(
				"3", "no") ",{\"jsonrpc\":\"2.0\",\"method\":\"x\"},7,{\"jsonrpc\":\"2.0\","
					   "\"id\":4,\"method\":\"initialize\"}]"));
	CHECK(!mcp_server_is_ready(&s) && broker.calls == 1);
	CHECK(!*answer(&s, 0, "{\"ok\":true,\"data\":\"pong\"}"));
	CHECK(broker.calls == 2);
	CHECK(has(answer(&s, 0, "{\"ok\":false,\"error\":\"no such\",\"code\":\"tool\"}"),
		  "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":"));
	CHECK(has(s.out.text, "\"id\":null,\"error\":{\"code\":-32600") &&
	      has(s.out.text, "must not be in a batch\"}}]\n"));
	CHECK(mcp_server_is_ready(&s));
	/* Of notifications alone there is no answer at all. */
	CHECK(!*say(&s, "[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]"));
	CHECK(has(say(&s, "[]"), "-32600"));
	mcp_server_done(&s);
}

static void DOOR_6_a_reply_that_is_too_long_is_said_to_be(void)
{
	static char line[64 + (size_t)1024 * 1024];
	struct mcp_server s = start(MCP_2025_06_18);

	/* Each quote has a backslash in the reply, and each of both has one more. */
	memcpy(line, "{\"ok\":true,\"data\":[\"", 20);
	for (size_t i = 20; i < 1000020; i += 2)
		memcpy(line + i, "\\\"", 2);
	memcpy(line + 1000020, "\"]}", 4);
	(void)say(&s, CALL("1", "ping"));
	CHECK(has(answer(&s, 0, line), "\"isError\":false"));
	mcp_buffer_done(&s.out);
	s.out.max = 1000000;
	(void)say(&s, CALL("1", "ping"));
	CHECK(has(answer(&s, 0, line), "\"text\":\"output: "));
	CHECK(s.out.len < 300);
	mcp_server_done(&s);
}

static void DOOR_6_tools_come_in_pages(void)
{
	static char text[32768];
	size_t len = (size_t)snprintf(text, sizeof(text), "{\"ok\":true,\"data\":[");
	struct mcp_server s = start(MCP_2025_06_18);

	for (int i = 0; i < 2 * MCP_PAGE + 1; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s{\"name\":\"t.%d\",\"mcp\":\"t_%d\",\"read\":false,\"params\":{}}",
					i ? "," : "", i, i);
	(void)snprintf(text + len, sizeof(text) - len, "]}");
	broker.list = text;
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"), "\"t_49\""));
	CHECK(!strstr(s.out.text, "\"t_50\"") && has(s.out.text, "\"nextCursor\":\"50\""));
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
			  "list\",\"params\":{\"cursor\":\"100\"}}"),
		  "\"tools\":[{\"name\":\"t_100\",\"inputSchema\":{}}]}"));
	CHECK(has(say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
			  "list\",\"params\":{\"cursor\":\"150\"}}"),
		  "\"tools\":[]}"));
	mcp_server_done(&s);
}

TAP_MAIN(T(DOOR_6_only_one_value_of_JSON_in_one_line_is_read),
	 T(DOOR_6_each_revision_with_initialize_is_answered_with_itself),
	 T(DOOR_6_an_unknown_revision_gets_the_last_one_with_initialize),
	 T(DOOR_6_a_request_that_names_its_revision_needs_no_initialize),
	 T(DOOR_6_a_message_that_is_malformed_gets_an_error_and_calls_nothing),
	 T(DOOR_6_notifications_and_replies_get_no_answer), T(DOOR_6_a_call_goes_to_the_broker_byte_for_byte),
	 T(DOOR_6_a_refusal_is_an_error_of_the_tool_with_code_and_text),
	 T(DOOR_6_without_the_list_nothing_is_called), T(DOOR_6_a_cancelled_call_is_dropped_and_not_answered),
	 T(DOOR_6_no_line_is_taken_while_all_calls_are_in_use),
	 T(DOOR_6_the_revision_with_batches_answers_them_in_one),
	 T(DOOR_6_a_reply_that_is_too_long_is_said_to_be), T(DOOR_6_tools_come_in_pages))
