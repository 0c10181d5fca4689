/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "mcp/mcp-json.h"

/* Bytes that grow up to MAX; memory of the kernel, because no library is linked.  All zero but MAX: empty. */
struct mcp_buffer {
	char *text;
	size_t len, room, max;
	bool full; /* something did not fit, and is not there */
};

bool mcp_buffer_reserve(struct mcp_buffer *b, size_t more); /* room for MORE bytes behind LEN */
void mcp_buffer_add(struct mcp_buffer *b, const char *bytes, size_t len);
void mcp_buffer_add_word(struct mcp_buffer *b, const char *word);
void mcp_buffer_add_text(struct mcp_buffer *b, struct mcp_text text);
void mcp_buffer_add_number(struct mcp_buffer *b, long long value);
/* TEXT, which is valid JSON, as a part of a JSON string. */
void mcp_buffer_add_quoted(struct mcp_buffer *b, struct mcp_text text);
void mcp_buffer_done(struct mcp_buffer *b);
