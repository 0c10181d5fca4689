/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "egress/http-head.h"

/*
 * Where the body of a request ends, so that the next request of the connection is read and decided anew.  Bytes that belong to the body
 * are forwarded as they came.  Chunks have no extensions, sizes no zeros in front, and trailers no field that decides host or body:
 * servers read those differently.
 */
#define HTTP_TRAILER_MAX 1024 /* bytes of one trailer line */
#define HTTP_TRAILERS_MAX 32

enum http_body_state {
	HTTP_BODY_BAD,
	HTTP_BODY_MORE, /* all bytes belong to the body, and more will */
	HTTP_BODY_DONE, /* bytes behind RET_USED belong to the next request */
};

struct http_body {
	const char *why; /* BAD: static text */

	/* Private. */
	enum http_body_part {
		HTTP_BODY_PART_END,
		HTTP_BODY_PART_LENGTH, /* LEFT bytes, then the end */
		HTTP_BODY_PART_SIZE,   /* of a chunk: LEFT so far, DIGITS */
		HTTP_BODY_PART_SIZE_LF,
		HTTP_BODY_PART_CHUNK, /* LEFT bytes */
		HTTP_BODY_PART_CHUNK_CR,
		HTTP_BODY_PART_CHUNK_LF,
		HTTP_BODY_PART_TRAILER,
		HTTP_BODY_PART_TRAILER_LF,
	} part;
	uint64_t left;
	unsigned int digits, trailers;
	size_t line_len;
	char line[HTTP_TRAILER_MAX];
};

void http_body_init(struct http_body *b, const struct http_head *head);
/* Takes the next bytes of the connection.  RET_USED: how many of them belong to the body; with BAD forward none of them. */
enum http_body_state http_body_take(struct http_body *b, const char *bytes, size_t len, size_t *ret_used);
