/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/http-body.h"

#include "egress/http-field.h"

#define SIZE_DIGITS_MAX 12

void http_body_init(struct http_body *b, const struct http_head *head)
{
	*b = (struct http_body){ .part = HTTP_BODY_PART_END };
	if (head->framing == HTTP_FRAMING_CHUNKED)
		b->part = HTTP_BODY_PART_SIZE;
	else if (head->framing == HTTP_FRAMING_LENGTH && head->length > 0) {
		b->part = HTTP_BODY_PART_LENGTH;
		b->left = head->length;
	}
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* NULL: good; else why not.  So for all of take_*. */
static const char *take_size(struct http_body *b, char c)
{
	const int value = hex_value(c);

	if (c == '\r' && b->digits > 0) {
		b->part = HTTP_BODY_PART_SIZE_LF;
		return NULL;
	}
	if (value < 0)
		return c == ';' ? "a chunk with an extension" : "a malformed size of a chunk";
	if (b->digits == SIZE_DIGITS_MAX || (b->digits > 0 && b->left == 0))
		return "a malformed size of a chunk";
	b->left = b->left << 4 | (uint64_t)value;
	b->digits++;
	return NULL;
}

static const char *take_size_end(struct http_body *b, char c)
{
	if (c != '\n')
		return "CR without LF";
	b->part = b->left > 0 ? HTTP_BODY_PART_CHUNK : HTTP_BODY_PART_TRAILER;
	b->digits = 0;
	return NULL;
}

static const char *take_chunk_end(struct http_body *b, char c)
{
	const bool cr = b->part == HTTP_BODY_PART_CHUNK_CR;

	if (c != (cr ? '\r' : '\n'))
		return "a chunk longer than its size";
	b->part = cr ? HTTP_BODY_PART_CHUNK_LF : HTTP_BODY_PART_SIZE;
	return NULL;
}

static const char *take_trailer(struct http_body *b, char c)
{
	if (c == '\r') {
		b->part = HTTP_BODY_PART_TRAILER_LF;
		return NULL;
	}
	if (c == '\n')
		return "LF without CR";
	if (b->line_len == sizeof(b->line))
		return "a trailer that is too long";
	b->line[b->line_len++] = c;
	return NULL;
}

static const char *take_trailer_end(struct http_body *b, char c)
{
	struct http_field f;
	const char *why;

	if (c != '\n')
		return "CR without LF";
	if (b->line_len == 0) {
		b->part = HTTP_BODY_PART_END;
		return NULL;
	}
	why = http_field_parse(b->line, b->line_len, &f);
	if (why)
		return why;
	if (http_field_frames(&f))
		return "a trailer that decides host or body";
	if (++b->trailers > HTTP_TRAILERS_MAX)
		return "too many trailers";
	b->line_len = 0;
	b->part = HTTP_BODY_PART_TRAILER;
	return NULL;
}

static const char *take_byte(struct http_body *b, char c)
{
	switch (b->part) {
	case HTTP_BODY_PART_SIZE:
		return take_size(b, c);
	case HTTP_BODY_PART_SIZE_LF:
		return take_size_end(b, c);
	case HTTP_BODY_PART_CHUNK_CR:
	case HTTP_BODY_PART_CHUNK_LF:
		return take_chunk_end(b, c);
	case HTTP_BODY_PART_TRAILER:
		return take_trailer(b, c);
	case HTTP_BODY_PART_TRAILER_LF:
		return take_trailer_end(b, c);
	case HTTP_BODY_PART_END:
	case HTTP_BODY_PART_LENGTH:
	case HTTP_BODY_PART_CHUNK:
		break;
	}
	return "a body in no state";
}

/* Content as one piece. */
static size_t take_content(struct http_body *b, size_t len)
{
	const size_t n = b->left < len ? (size_t)b->left : len;

	b->left -= n;
	if (b->left == 0)
		b->part = b->part == HTTP_BODY_PART_CHUNK ? HTTP_BODY_PART_CHUNK_CR : HTTP_BODY_PART_END;
	return n;
}

enum http_body_state http_body_take(struct http_body *b, const char *bytes, size_t len, size_t *ret_used)
{
	size_t used = 0;

	while (!b->why && b->part != HTTP_BODY_PART_END && used < len) {
		if (b->part == HTTP_BODY_PART_LENGTH || b->part == HTTP_BODY_PART_CHUNK)
			used += take_content(b, len - used);
		else
			b->why = take_byte(b, bytes[used++]);
	}
	*ret_used = b->why ? 0 : used;
	if (b->why)
		return HTTP_BODY_BAD;
	return b->part == HTTP_BODY_PART_END ? HTTP_BODY_DONE : HTTP_BODY_MORE;
}
