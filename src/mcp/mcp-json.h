/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * JSON text as it stands: it is checked once, and its parts are then found in place and passed on byte for byte.  Nothing is
 * decoded, so that the broker reads what the client wrote.  No library.
 */
struct mcp_text {
	const char *at;
	size_t len;
};
#define MCP_DEPTH_MAX 64

/* Is TEXT one JSON value, in UTF-8, without NUL and without a line break? */
bool mcp_json_is_valid(struct mcp_text text);

/* Of values within a valid text. */
bool mcp_json_is(struct mcp_text value, char first); /* '{', '[', '"', 't', ... */
/* Member by member, and element by element; *AT starts as 0.  False: at the end, or of another type. */
bool mcp_json_member(struct mcp_text object, size_t *at, struct mcp_text *key, struct mcp_text *value);
bool mcp_json_item(struct mcp_text array, size_t *at, struct mcp_text *value);
/* Is STRING the ASCII text WORD, with or without escapes? */
bool mcp_json_string_is(struct mcp_text string, const char *word);
/* The value of KEY: 1; 0: missing, or no object; -1: there twice. */
int mcp_json_get(struct mcp_text object, const char *key, struct mcp_text *ret);
