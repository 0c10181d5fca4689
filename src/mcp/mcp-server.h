/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "mcp/mcp-buffer.h"
#include "mcp/mcp-message.h"

/*
 * The server of one client: messages in, messages out, and calls to the broker.  It decides nothing: what the broker refuses is
 * an error of the tool, with the broker's code and text.  docs/design/mcp.md.
 */
#define MCP_CALLS 8			       /* at the same time */
#define MCP_BATCH_MAX 64		       /* messages of one batch */
#define MCP_PAGE 50			       /* tools of one page */
#define MCP_LINE_MAX ((size_t)8 << 20)	       /* of the client, and of the broker */
#define MCP_OUT_MAX (MCP_LINE_MAX * 2 + 65536) /* of one reply: its quotes have backslashes */

struct mcp_broker {
	/* Adds its reply to a request for the list of tools.  Not NULL: no reply, for this reason. */
	const char *(*list)(void *arg, struct mcp_buffer *to);
	/* Sends a call; its reply comes by mcp_server_answer().  TOOL is a JSON string.  Not NULL: not sent, for this reason. */
	const char *(*call)(void *arg, size_t slot, struct mcp_text tool, struct mcp_text arguments);
	void (*drop)(void *arg, size_t slot); /* the client does not want the reply */
	void *arg;
};

enum mcp_revision {
	MCP_NONE, /* no initialize yet */
	MCP_2024_11_05,
	MCP_2025_03_26,
	MCP_2025_06_18,
	MCP_2025_11_25,
};

/* Who gets a reply. */
struct mcp_asker {
	char id[MCP_ID_MAX];
	size_t id_len;
	bool stateless; /* its request has the revision in it: MCP 2026-07-28 */
	bool batch;
};

struct mcp_slot {
	bool used;
	struct mcp_asker asker;
};

struct mcp_server {
	struct mcp_broker broker;
	enum mcp_revision revision;
	struct mcp_buffer out;	/* for the client; the caller takes it */
	struct mcp_buffer list; /* the broker's reply; empty: not asked yet */
	struct mcp_text tools;	/* in it, an array */
	struct mcp_slot slots[MCP_CALLS];
	struct {
		bool active, waits; /* WAITS: for the reply to a call */
		struct mcp_buffer text, out;
		size_t at;
	} batch;
};
#define MCP_SERVER(b)                                                            \
	{                                                                        \
		.broker = (b), .out.max = MCP_OUT_MAX, .list.max = MCP_LINE_MAX, \
		.batch.text.max = MCP_LINE_MAX, .batch.out.max = MCP_LINE_MAX,   \
	}

/* May the next line be taken?  Not while all calls are in use, or a batch is not finished. */
bool mcp_server_is_ready(const struct mcp_server *s);
void mcp_server_take(struct mcp_server *s, struct mcp_text line); /* of the client, without its end */
void mcp_server_refuse_line(struct mcp_server *s);		  /* one that is too long */
/* The reply to the call of SLOT, or why it has none. */
void mcp_server_answer(struct mcp_server *s, size_t slot, struct mcp_text line);
void mcp_server_fail(struct mcp_server *s, size_t slot, const char *why);
void mcp_server_done(struct mcp_server *s);
