/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "mcp/mcp-buffer.h"

/* One connection to the broker: one request, one line of reply.  Zero FD: none. */
#define MCP_REQUEST_MAX ((size_t)256 * 1024) /* the broker's limit of a line */

struct mcp_link {
	int fd;
	struct mcp_buffer in;
};

/* Sends BODY, the members behind the token.  NULL: sent; else why not, the inside of a JSON string. */
const char *mcp_link_open(struct mcp_link *l, const struct mcp_text *body, size_t n);
/* Reads once.  1: the line is complete, in *RET; 0: not yet; -1: there will be none. */
int mcp_link_read(struct mcp_link *l, struct mcp_text *ret);
void mcp_link_close(struct mcp_link *l);

/* Has the session a broker?  0, or negative errno. */
long mcp_link_check(void);
