/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <string.h>

#include "mcp/mcp-buffer.h"
#include "mcp/mcp-memory.h"

#define FIRST ((size_t)16384)

bool mcp_buffer_reserve(struct mcp_buffer *b, size_t more)
{
	size_t room = b->room ? b->room : FIRST;
	char *text;

	if (b->full || more > b->max - b->len)
		return false;
	while (room < b->len + more)
		room *= 2;
	if (room == b->room)
		return true;
	text = mcp_memory_resize(b->text, b->room, room);
	if (!text)
		return false;
	b->text = text;
	b->room = room;
	return true;
}

void mcp_buffer_add(struct mcp_buffer *b, const char *bytes, size_t len)
{
	if (len == 0)
		return;
	if (!mcp_buffer_reserve(b, len)) {
		b->full = true;
		return;
	}
	memcpy(b->text + b->len, bytes, len);
	b->len += len;
}

void mcp_buffer_add_word(struct mcp_buffer *b, const char *word)
{
	mcp_buffer_add(b, word, strlen(word));
}

void mcp_buffer_add_text(struct mcp_buffer *b, struct mcp_text text)
{
	mcp_buffer_add(b, text.at, text.len);
}

void mcp_buffer_add_number(struct mcp_buffer *b, long long value)
{
	char digits[24];
	struct line l = LINE(digits);

	line_put_num(&l, value);
	mcp_buffer_add(b, digits, l.len);
}

/* Of control characters, valid JSON without line breaks has the tab alone. */
void mcp_buffer_add_quoted(struct mcp_buffer *b, struct mcp_text text)
{
	size_t done = 0;

	for (size_t i = 0; i < text.len; i++) {
		const char c = text.at[i];

		if (c != '"' && c != '\\' && c != '\t')
			continue;
		mcp_buffer_add(b, text.at + done, i - done);
		mcp_buffer_add_word(b, c == '\t' ? "\\t" : c == '"' ? "\\\"" : "\\\\");
		done = i + 1;
	}
	mcp_buffer_add(b, text.at + done, text.len - done);
}

void mcp_buffer_done(struct mcp_buffer *b)
{
	if (b->text)
		mcp_memory_free(b->text, b->room);
	*b = (struct mcp_buffer){ .max = b->max };
}
