/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "mcp/mcp-server.h"

/* Private to the server: one reply, complete or not there at all. */
#define MCP_PARSE_ERROR (-32700)
#define MCP_INVALID_REQUEST (-32600)
#define MCP_METHOD_NOT_FOUND (-32601)
#define MCP_INVALID_PARAMS (-32602)
#define MCP_INTERNAL_ERROR (-32603)
#define MCP_UNSUPPORTED_REVISION (-32022)
#define MCP_STATELESS "2026-07-28"
#define MCP_NAME "custody"

struct mcp_answer {
	struct mcp_buffer *to;
	size_t begin;
	bool batch;
};

/* The members of a result go between the two.  False: it did not fit, and nothing of it is there. */
struct mcp_answer mcp_answer_begin(struct mcp_server *s, const struct mcp_asker *a);
bool mcp_answer_end(struct mcp_answer *x);

void mcp_answer_error(struct mcp_server *s, const struct mcp_asker *a, int code, const char *message);
/* DATA is JSON. */
void mcp_answer_error_data(struct mcp_server *s, const struct mcp_asker *a, int code, const char *message,
			   struct mcp_text data);
/* "CODE: TEXT", insides of JSON strings: as an error of the tool, which the model reads, and as an error of the protocol. */
void mcp_answer_refusal(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text code,
			struct mcp_text text);
void mcp_answer_problem(struct mcp_server *s, const struct mcp_asker *a, int number, struct mcp_text code,
			struct mcp_text text);
/* The result of a call: LINE is the broker's. */
void mcp_answer_call(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text line);

struct mcp_text mcp_word(const char *text);
struct mcp_text mcp_inside(struct mcp_text string); /* without its quotes */
