/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/http-body.h"

#include <string.h>

#include "base/str.h"

#include "tap.h"

static struct http_head head(enum http_framing framing, uint64_t length)
{
	return (struct http_head){ .framing = framing, .length = length };
}

/* In pieces of STEP bytes; RET_END: bytes of the body. */
static enum http_body_state take(const struct http_head *h, const char *text, size_t len, size_t step,
				 size_t *ret_end, const char **ret_why)
{
	enum http_body_state state;
	struct http_body b;
	size_t used, at = 0;

	http_body_init(&b, h);
	state = http_body_take(&b, text, 0, &used);
	while (state == HTTP_BODY_MORE && at < len) {
		const size_t n = len - at < step ? len - at : step;
		char *copy = malloc(n);

		if (!copy)
			abort();
		memcpy(copy, text + at, n);
		state = http_body_take(&b, copy, n, &used);
		free(copy);
		if (used > n || (state == HTTP_BODY_MORE && used != n) || (state == HTTP_BODY_BAD && used))
			abort();
		at += used;
	}
	*ret_end = at;
	*ret_why = b.why;
	return state;
}

static bool ends_at(const struct http_head *h, const char *text, size_t want)
{
	const char *why;
	size_t end;

	for (size_t step = 1; step <= strlen(text) + 1; step++)
		if (take(h, text, strlen(text), step, &end, &why) != HTTP_BODY_DONE || end != want)
			return false;
	return true;
}

static bool is_bad(const char *text, const char *want)
{
	const struct http_head h = head(HTTP_FRAMING_CHUNKED, 0);
	const char *why;
	size_t end;

	for (size_t step = 1; step <= strlen(text); step++)
		if (take(&h, text, strlen(text), step, &end, &why) != HTTP_BODY_BAD || !strstr(why, want))
			return false;
	return true;
}

static void DOOR_5_the_next_request_begins_behind_the_body(void)
{
	const struct http_head none = head(HTTP_FRAMING_NONE, 0), zero = head(HTTP_FRAMING_LENGTH, 0),
			       five = head(HTTP_FRAMING_LENGTH, 5), chunks = head(HTTP_FRAMING_CHUNKED, 0);

	CHECK(ends_at(&none, "GET / HTTP/1.1\r\n", 0) && ends_at(&zero, "GET / HTTP/1.1\r\n", 0));
	CHECK(ends_at(&five, "helloGET / HTTP/1.1\r\n", 5) && ends_at(&five, "hello", 5));
	CHECK(ends_at(&chunks, "0\r\n\r\nGET / HTTP/1.1\r\n", 5));
	CHECK(ends_at(&chunks, "5\r\nhello\r\n1a\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\nGET", 47));
	CHECK(ends_at(&chunks, "B\r\n0\r\n\r\nGET / \r\n0\r\n\r\nGET", 21));
	CHECK(ends_at(&chunks, "1\r\na\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\nGET", 27));
}

static void DOOR_5_a_body_that_is_cut_wants_more(void)
{
	static const char text[] = "5\r\nhello\r\n0\r\nX: y\r\n\r\n";
	const struct http_head h = head(HTTP_FRAMING_CHUNKED, 0), five = head(HTTP_FRAMING_LENGTH, 5);
	const char *why;
	size_t end;

	for (size_t len = 0; len < strlen(text); len++)
		CHECK(take(&h, text, len, 3, &end, &why) == HTTP_BODY_MORE && end == len);
	CHECK(take(&five, "hell", 4, 4, &end, &why) == HTTP_BODY_MORE && end == 4);
}

static void DOOR_5_chunks_that_servers_read_differently_are_refused(void)
{
	CHECK(is_bad("5;x=y\r\nhello\r\n0\r\n\r\n", "extension"));
	CHECK(is_bad("5;\r\n", "extension"));
	CHECK(is_bad("0;x\r\n\r\n", "extension"));
	CHECK(is_bad("05\r\nhello\r\n", "malformed") && is_bad("00\r\n\r\n", "malformed"));
	CHECK(is_bad("0x5\r\nhello\r\n", "malformed") && is_bad("+5\r\n", "malformed") &&
	      is_bad("-1\r\n", "malformed"));
	CHECK(is_bad("5 \r\nhello", "malformed") && is_bad(" 5\r\nhello", "malformed") &&
	      is_bad("\r\nhello", "malformed") && is_bad("5\nhello\n", "malformed"));
	CHECK(is_bad("g\r\n", "malformed") && is_bad("1000000000000\r\n", "malformed") &&
	      is_bad("ffffffffffffffff5\r\n", "malformed"));
	CHECK(is_bad("5\rhello", "CR without LF") && is_bad("0\r\r\n", "CR without LF"));
	CHECK(is_bad("5\r\nhello!\r\n", "longer") && is_bad("5\r\nhello\n0\r\n", "longer") &&
	      is_bad("5\r\nhello\r0", "longer"));
}

static void DOOR_5_trailers_decide_nothing(void)
{
	_cleanup_strbuf_ struct strbuf many = { 0 }, line = { 0 };

	CHECK(is_bad("0\r\nHost: b.test\r\n\r\n", "decides"));
	CHECK(is_bad("0\r\nContent-Length: 5\r\n\r\n", "decides"));
	CHECK(is_bad("0\r\ntransfer_Encoding: x\r\n\r\n", "decides"));
	CHECK(is_bad("0\r\nX : y\r\n\r\n", "blank before") && is_bad("0\r\n x: y\r\n\r\n", "folded"));
	CHECK(is_bad("0\r\nGET / HTTP/1.1\r\n\r\n", "without ':'"));
	CHECK(is_bad("0\r\nX: y\n\r\n", "LF without CR") && is_bad("0\r\n\n", "LF without CR") &&
	      is_bad("0\r\n\rx", "CR without LF"));
	CHECK(is_bad("0\r\nX: \x01\r\n\r\n", "control"));
	strbuf_puts(&many, "0\r\n");
	for (size_t i = 0; i <= HTTP_TRAILERS_MAX; i++)
		strbuf_puts(&many, "X: y\r\n");
	CHECK(is_bad(many.text, "too many trailers"));
	strbuf_puts(&line, "0\r\nX: ");
	for (size_t i = 0; i <= HTTP_TRAILER_MAX; i++)
		strbuf_putc(&line, 'y');
	CHECK(is_bad(line.text, "too long"));
}

static void DOOR_5_a_bad_body_stays_bad(void)
{
	const struct http_head h = head(HTTP_FRAMING_CHUNKED, 0);
	struct http_body b;
	size_t used = 1;

	http_body_init(&b, &h);
	CHECK(http_body_take(&b, "x", 1, &used) == HTTP_BODY_BAD && used == 0);
	CHECK(http_body_take(&b, "0\r\n\r\n", 5, &used) == HTTP_BODY_BAD && used == 0);
}

TAP_MAIN(T(DOOR_5_the_next_request_begins_behind_the_body), T(DOOR_5_a_body_that_is_cut_wants_more),
	 T(DOOR_5_chunks_that_servers_read_differently_are_refused), T(DOOR_5_trailers_decide_nothing),
	 T(DOOR_5_a_bad_body_stays_bad))
