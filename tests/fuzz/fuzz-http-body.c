/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "egress/http-body.h"

/* The first byte is the length of the pieces, or 0 for a body with a length, the second byte.  Pieces do not matter. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum http_body_state take(const struct http_head *h, const char *bytes, size_t len, size_t step,
				 size_t *ret_end)
{
	enum http_body_state state;
	struct http_body b;
	size_t used, at = 0;

	http_body_init(&b, h);
	state = http_body_take(&b, bytes, 0, &used);
	while (state == HTTP_BODY_MORE && at < len) {
		const size_t n = len - at < step ? len - at : step;

		state = http_body_take(&b, bytes + at, n, &used);
		if (used > n || (state == HTTP_BODY_MORE && used != n) || (state == HTTP_BODY_BAD && used) ||
		    (state == HTTP_BODY_BAD) != (b.why != NULL) || b.line_len > sizeof(b.line))
			abort();
		at += used;
	}
	*ret_end = at;
	return state;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	struct http_head h = { .framing = HTTP_FRAMING_CHUNKED };
	size_t whole_end, end, step;
	enum http_body_state whole;

	if (size < 2)
		return 0;
	step = data[0] ? data[0] : 3;
	if (!data[0])
		h = (struct http_head){ .framing = HTTP_FRAMING_LENGTH, .length = data[1] };
	whole = take(&h, bytes + 2, size - 2, size, &whole_end);
	if (take(&h, bytes + 2, size - 2, step, &end) != whole ||
	    (whole != HTTP_BODY_BAD && end != whole_end))
		abort();
	if (whole == HTTP_BODY_DONE && h.framing == HTTP_FRAMING_CHUNKED &&
	    (end < 5 || memcmp(bytes + 2 + end - 2, "\r\n", 2) != 0))
		abort();
	return 0;
}
