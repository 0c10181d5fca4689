/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "mcp/mcp-answer.h"

/* Private to the server: the tools of the session.  They do not change, so the broker is asked once. */

/* Answers tools/list. */
void mcp_tools_answer(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text params);
/* The broker's name of the tool that the client calls NAME, or NAME if no tool has it.  False: A got an error. */
bool mcp_tools_find(struct mcp_server *s, const struct mcp_asker *a, struct mcp_text name,
		    struct mcp_text *ret);
