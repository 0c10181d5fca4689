/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mcp/mcp-message.h"

#define INTEGER_MAX 18 /* characters: every reader can hold it */

static bool is_integer(struct mcp_text t)
{
	size_t i = mcp_json_is(t, '-');

	if (i == t.len || t.len > INTEGER_MAX)
		return false;
	for (; i < t.len; i++)
		if (t.at[i] < '0' || t.at[i] > '9')
			return false;
	return true;
}

static struct mcp_message malformed(struct mcp_message m, const char *why)
{
	m.kind = MCP_MALFORMED;
	m.why = why;
	return m;
}

struct mcp_message mcp_message_parse(struct mcp_text text)
{
	struct mcp_message m = { 0 };
	struct mcp_text version, id, other;
	int has_id, has_method, has_params;

	if (!mcp_json_is(text, '{'))
		return malformed(m, "a message must be an object");
	has_id = mcp_json_get(text, "id", &id);
	if (has_id > 0 && id.len <= MCP_ID_MAX && (mcp_json_is(id, '"') || is_integer(id)))
		m.id = id;
	if (mcp_json_get(text, "jsonrpc", &version) != 1 || !mcp_json_string_is(version, "2.0"))
		return malformed(m, "\\\"jsonrpc\\\" must be \\\"2.0\\\"");
	if (has_id != 0 && !m.id.len)
		return malformed(m, "\\\"id\\\" must be one string or whole number");
	has_method = mcp_json_get(text, "method", &m.method);
	if (has_method == 0 && has_id > 0 &&
	    (mcp_json_get(text, "result", &other) == 1 || mcp_json_get(text, "error", &other) == 1)) {
		m.kind = MCP_REPLY;
		return m;
	}
	if (has_method != 1 || !mcp_json_is(m.method, '"'))
		return malformed(m, "\\\"method\\\" must be one string");
	has_params = mcp_json_get(text, "params", &m.params);
	if (has_params < 0 || (has_params > 0 && !mcp_json_is(m.params, '{')))
		return malformed(m, "\\\"params\\\" must be one object");
	m.kind = has_id ? MCP_REQUEST : MCP_NOTIFICATION;
	return m;
}

bool mcp_message_is(const struct mcp_message *m, const char *method)
{
	return mcp_json_string_is(m->method, method);
}

bool mcp_reply_parse(struct mcp_text line, struct mcp_reply *ret)
{
	struct mcp_reply r = { 0 };
	struct mcp_text ok;

	if (!mcp_json_is_valid(line) || mcp_json_get(line, "ok", &ok) != 1)
		return false;
	r.ok = mcp_json_is(ok, 't');
	if (r.ok ? mcp_json_get(line, "data", &r.data) != 1
		 : mcp_json_get(line, "error", &r.error) != 1 || !mcp_json_is(r.error, '"') ||
			    mcp_json_get(line, "code", &r.code) != 1 || !mcp_json_is(r.code, '"'))
		return false;
	*ret = r;
	return true;
}
