/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "mcp/mcp-json.h"

/* One message of JSON-RPC 2.0 as MCP has them: an id is a text or a whole number, and parameters are an object. */
#define MCP_ID_MAX 256

enum mcp_kind {
	MCP_MALFORMED,
	MCP_REQUEST,
	MCP_NOTIFICATION,
	MCP_REPLY, /* of the client, to a question that this server never asks */
};

struct mcp_message {
	enum mcp_kind kind;
	struct mcp_text id; /* its text, with quotes; empty: none, or none that can be used */
	struct mcp_text method;
	struct mcp_text params; /* empty: none */
	const char *why;	/* of MCP_MALFORMED */
};

/* TEXT is valid JSON. */
struct mcp_message mcp_message_parse(struct mcp_text text);
bool mcp_message_is(const struct mcp_message *m, const char *method);

/* A line of the broker: {"ok":true,"data":DATA} or {"ok":false,"error":"...","code":"..."}.  False: neither. */
struct mcp_reply {
	bool ok;
	struct mcp_text data, error, code;
};
bool mcp_reply_parse(struct mcp_text line, struct mcp_reply *ret);
