/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/http-head.h"

#include <string.h>

#include "base/str.h"

#include "tap.h"

#define BYTES(text) (text), sizeof(text) - 1

/* In pieces of STEP bytes, each in memory of its own. */
static enum http_head_state parse_pieces(const char *text, size_t len, size_t step, struct http_head *ret)
{
	enum http_head_state state = HTTP_HEAD_MORE;

	*ret = (struct http_head){ 0 };
	for (size_t at = 0; at < len && state == HTTP_HEAD_MORE;) {
		char *copy;

		at += len - at < step ? len - at : step;
		copy = malloc(at);
		if (!copy)
			abort();
		memcpy(copy, text, at);
		state = http_head_parse(ret, copy, at);
		free(copy);
	}
	if ((state == HTTP_HEAD_BAD) != (ret->why != NULL) || (state == HTTP_HEAD_DONE) != (ret->len > 0))
		abort();
	return state;
}

static enum http_head_state parse(const char *text, size_t len, struct http_head *ret)
{
	const enum http_head_state state = parse_pieces(text, len, len, ret);
	struct http_head pieces;

	if (parse_pieces(text, len, 1, &pieces) != state || pieces.len != ret->len)
		abort();
	return state;
}

static bool is_good(const char *text, struct http_head *ret)
{
	return parse(text, strlen(text), ret) == HTTP_HEAD_DONE && ret->len == strlen(text);
}

static bool is_bad_bytes(const char *text, size_t len, const char *why)
{
	struct http_head h;

	if (parse(text, len, &h) == HTTP_HEAD_BAD && strstr(h.why, why))
		return true;
	printf("# why: %s, not: %s\n", h.why ? h.why : "good", why);
	return false;
}

static bool is_bad(const char *text, const char *why)
{
	return is_bad_bytes(text, strlen(text), why);
}

/* A good head with this line more. */
static bool is_bad_line(const char *line, const char *why)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_printf(&b, "POST / HTTP/1.1\r\nHost: a.test\r\n%s\r\n\r\n", line);
	return is_bad(b.text, why);
}

static bool is_good_line(const char *line, struct http_head *ret)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };

	strbuf_printf(&b, "POST / HTTP/1.1\r\nHost: a.test\r\n%s\r\n\r\n", line);
	return is_good(b.text, ret);
}

static void DOOR_5_a_request_names_its_host(void)
{
	static const char origin[] =
		"GET /a/b?c=%20 HTTP/1.1\r\nHost: API.Example.TEST:8080\r\nAccept: */*\r\n\r\n";
	struct http_head h;

	CHECK(is_good(origin, &h));
	CHECK(h.target == HTTP_TARGET_ORIGIN && str_eq(h.host, "api.example.test") && h.port == 8080);
	CHECK(str_eq(h.method, "GET") && h.framing == HTTP_FRAMING_NONE && !h.closes && !h.is_http10);
	CHECK(h.path_len == 10 && memcmp(origin + h.path, "/a/b?c=%20", 10) == 0);
	CHECK(is_good("GET http://a.test/x HTTP/1.1\r\nHost:\tA.test:80 \t\r\n\r\n", &h));
	CHECK(h.target == HTTP_TARGET_ABSOLUTE && str_eq(h.host, "a.test") && h.port == 80 && h.path == 17 &&
	      h.path_len == 2);
	CHECK(is_good("GET http://a.test:81 HTTP/1.1\r\nhOST: a.test:81\r\n\r\n", &h) && h.port == 81 &&
	      h.path_len == 0);
	CHECK(is_good("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n", &h));
	CHECK(h.target == HTTP_TARGET_AUTHORITY && str_eq(h.host, "a.test") && h.port == 443);
	CHECK(is_good("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", &h) && h.port == 443);
	CHECK(is_good("CONNECT a.test:443 HTTP/1.0\r\n\r\n", &h) && h.port == 443 &&
	      str_eq(h.host, "a.test"));
	CHECK(is_good("OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n", &h) && h.target == HTTP_TARGET_ASTERISK);
}

static void DOOR_5_target_and_host_must_agree(void)
{
	static const char why[] = "Host is another one";

	CHECK(is_bad("GET http://a.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n", why));
	CHECK(is_bad("GET http://a.test/ HTTP/1.1\r\nHost: a.test:81\r\n\r\n", why));
	CHECK(is_bad("GET http://a.test:81/ HTTP/1.1\r\nHost: a.test\r\n\r\n", why));
	CHECK(is_bad("CONNECT a.test:443 HTTP/1.1\r\nHost: b.test:443\r\n\r\n", why));
	CHECK(is_bad("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:22\r\n\r\n", why));
	CHECK(is_bad("CONNECT a.test:443 HTTP/1.0\r\nHost: b.test\r\n\r\n", why));
}

static void DOOR_5_there_is_exactly_one_host(void)
{
	CHECK(is_bad("GET / HTTP/1.1\r\n\r\n", "no Host"));
	CHECK(is_bad("GET / HTTP/1.0\r\n\r\n", "no Host"));
	CHECK(is_bad("GET http://a.test/ HTTP/1.1\r\n\r\n", "no Host"));
	CHECK(is_bad("CONNECT a.test:443 HTTP/1.1\r\n\r\n", "no Host"));
	CHECK(is_bad_line("Host: a.test", "two Host") && is_bad_line("HOST: b.test", "two Host"));
	CHECK(is_bad("GET / HTTP/1.1\r\nHost:\r\n\r\n", "not a host name"));
	CHECK(is_bad("GET / HTTP/1.1\r\nHost: a.test, b.test\r\n\r\n", "not a host name"));
	CHECK(is_bad("GET / HTTP/1.1\r\nHost: a.test b.test\r\n\r\n", "not a host name"));
	CHECK(is_bad("GET / HTTP/1.1\r\nHost : a.test\r\n\r\n", "blank before"));
}

static void DOOR_5_line_ends_are_exact(void)
{
	CHECK(is_bad("GET / HTTP/1.1\nHost: a.test\n\n", "LF without CR"));
	CHECK(is_bad("GET / HTTP/1.1\r\nHost: a.test\n\r\n", "LF without CR"));
	CHECK(is_bad("GET / HTTP/1.1\r\nHost: a.test\r\n\n", "LF without CR"));
	CHECK(is_bad("GET / HTTP/1.1\r\nX: a\rHost: b.test\r\n\r\n", "CR without LF"));
	CHECK(is_bad("GET / HTTP/1.1\r\nX: a\r\r\n\r\n", "CR without LF"));
	CHECK(is_bad("GET / HTTP/1.1\r\nHost: a.test\r\n\rx", "CR without LF"));
	CHECK(is_bad("GET / HTTP/1.1\r\n Host: a.test\r\n\r\n", "folded"));
	CHECK(is_bad_line("X: a\r\n\tb", "folded") && is_bad_line("X: a\r\n b: c", "folded"));
	CHECK(is_bad_bytes(BYTES("GET / HTTP/1.1\r\nHost: a.test\r\nX: a\0b\r\n\r\n"), "control"));
	CHECK(is_bad_bytes(BYTES("GET /\0 HTTP/1.1\r\n"), "control"));
	CHECK(is_bad_bytes(BYTES("\x16\3\1"), "control") && is_bad_line("X: a\x7f", "control") &&
	      is_bad_line("X: a\x0b", "control"));
}

static void DOOR_5_field_names_are_exact(void)
{
	CHECK(is_bad_line("X : a", "blank before") && is_bad_line("X\t: a", "blank before"));
	CHECK(is_bad_line(": a", "blank before") && is_bad_line("X", "without ':'"));
	CHECK(is_bad_line("X\xc3: a", "blank before") && is_bad_line("X(: a", "blank before"));
	CHECK(is_bad_line("Content_Length: 5", "'_'") && is_bad_line("TRANSFER_encoding: chunked", "'_'"));
	CHECK(is_bad_line("Content-Length : 5", "blank before"));
	CHECK(is_bad_line("\x0b"
			  "Content-Length: 5",
			  "control"));
}

static void DOOR_5_the_length_of_a_body_has_one_reading(void)
{
	static const char *const bad[] = { "",	 "+5",	"-5", "5,5", "5, 5",  "0x5",
					   "05", "5 5", "5a", "5.0", "\"5\"", "1000000000000000000" };
	struct http_head h;

	CHECK(is_good_line("Content-Length: 5", &h) && h.framing == HTTP_FRAMING_LENGTH && h.length == 5);
	CHECK(is_good_line("content-length:0 ", &h) && h.framing == HTTP_FRAMING_LENGTH && h.length == 0);
	CHECK(is_good_line("Content-Length: 999999999999999999", &h) &&
	      h.length == UINT64_C(999999999999999999));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 };

		strbuf_printf(&b, "Content-Length: %s", bad[i]);
		CHECK(is_bad_line(b.text, "malformed Content-Length"));
	}
	CHECK(is_bad_line("Content-Length: 5\r\nContent-Length: 5", "two Content-Length"));
	CHECK(is_bad_line("Content-Length: 5\r\nContent-Length: 6", "two Content-Length"));
}

static void DOOR_5_chunks_have_one_reading(void)
{
	static const char *const bad[] = { "",
					   "identity",
					   "gzip, chunked",
					   "chunked, chunked",
					   "chunked,",
					   "chunked;q=1",
					   "xchunked",
					   "chunked identity",
					   "\"chunked\"",
					   "\x0b"
					   "chunked" };
	struct http_head h;

	CHECK(is_good_line("Transfer-Encoding: Chunked", &h) && h.framing == HTTP_FRAMING_CHUNKED);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 };

		strbuf_printf(&b, "Transfer-Encoding: %s", bad[i]);
		CHECK(is_bad_line(b.text, ""));
	}
	CHECK(is_bad_line("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "two Transfer"));
	CHECK(is_bad_line("Transfer-Encoding: chunked\r\nContent-Length: 5", "both"));
	CHECK(is_bad_line("Content-Length: 5\r\nTransfer-Encoding: chunked", "both"));
	CHECK(is_bad("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0"));
}

static void DOOR_5_methods_without_a_body_have_none(void)
{
	static const char *const methods[] = { "GET /", "HEAD /", "TRACE /", "CONNECT a:1" };
	struct http_head h;

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 }, c = { 0 }, d = { 0 };

		strbuf_printf(&b, "%s HTTP/1.1\r\nHost: a%s\r\nContent-Length: 5\r\n\r\n", methods[i],
			      i == 3 ? ":1" : "");
		CHECK(is_bad(b.text, "a method that has none"));
		strbuf_printf(&c, "%s HTTP/1.1\r\nHost: a%s\r\nTransfer-Encoding: chunked\r\n\r\n",
			      methods[i], i == 3 ? ":1" : "");
		CHECK(is_bad(c.text, "a method that has none"));
		strbuf_printf(&d, "%s HTTP/1.1\r\nHost: a%s\r\nContent-Length: 0\r\n\r\n", methods[i],
			      i == 3 ? ":1" : "");
		CHECK(is_good(d.text, &h) && h.length == 0);
	}
	CHECK(is_good("DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", &h) && h.length == 5);
}

static void DOOR_5_connection_options(void)
{
	struct http_head h;

	CHECK(is_good_line("Connection: Close", &h) && h.closes);
	CHECK(is_good_line("Connection: keep-alive, TE", &h) && !h.closes);
	CHECK(is_good("GET / HTTP/1.0\r\nHost: a\r\n\r\n", &h) && h.closes && h.is_http10);
	CHECK(is_good("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", &h) && !h.closes);
	CHECK(is_good("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: "
		      "WebSocket\r\n\r\n",
		      &h) &&
	      h.is_websocket);
	CHECK(is_good_line("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA", &h) &&
	      !h.is_websocket);
	CHECK(is_good_line("Expect: 100-continue", &h) && h.expects_100);
	CHECK(is_bad_line("Connection: close, keep-alive", "both close"));
	CHECK(is_bad_line("Connection: Host", "other words") && is_bad_line("Connection: ", "other words") &&
	      is_bad_line("Connection: close, Content-Length", "other words"));
	CHECK(is_bad_line("Upgrade: websocket", "do not agree") &&
	      is_bad_line("Connection: upgrade", "do not agree"));
	CHECK(is_bad_line("Connection: upgrade\r\nUpgrade: TLS/1.0", "unknown Upgrade") &&
	      is_bad_line("Connection: upgrade\r\nUpgrade: h2c, websocket", "unknown Upgrade") &&
	      is_bad_line("Connection: upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket", "two Upgrade"));
	CHECK(is_bad_line("Connection: upgrade\r\nUpgrade: websocket", "not opened by GET"));
	CHECK(is_bad_line("Expect: x", "Expect") &&
	      is_bad_line("Expect: 100-continue\r\nExpect: 100-continue", "Expect"));
}

static void DOOR_5_heads_are_bounded(void)
{
	_cleanup_strbuf_ struct strbuf full = { 0 }, more = { 0 }, line = { 0 }, exact = { 0 };
	struct http_head h;

	strbuf_puts(&full, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (size_t i = 1; i < HTTP_FIELDS_MAX; i++)
		strbuf_puts(&full, "X: y\r\n");
	strbuf_puts(&more, full.text);
	strbuf_puts(&full, "\r\n");
	CHECK(is_good(full.text, &h));
	strbuf_puts(&more, "X: y\r\n\r\n");
	CHECK(is_bad(more.text, "more than 100 fields"));
	strbuf_puts(&line, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
	strbuf_puts(&exact, line.text);
	while (line.len < HTTP_HEAD_MAX - 1)
		strbuf_putc(&line, 'a');
	CHECK(parse(line.text, line.len, &h) == HTTP_HEAD_MORE);
	strbuf_putc(&line, 'a');
	CHECK(parse(line.text, line.len, &h) == HTTP_HEAD_BAD && strstr(h.why, "32 KiB"));
	while (exact.len < HTTP_HEAD_MAX - 4)
		strbuf_putc(&exact, 'a');
	strbuf_puts(&exact, "\r\n\r\n");
	CHECK(exact.len == HTTP_HEAD_MAX && is_good(exact.text, &h));
}

static void DOOR_5_the_next_request_is_not_read(void)
{
	static const char two[] =
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\nGET / HTTP/1.1\r\nHost: b.test\r\n\r\n";
	struct http_head h;

	CHECK(parse(two, strlen(two), &h) == HTTP_HEAD_DONE && str_eq(h.host, "a.test"));
	CHECK(h.len == strlen(two) / 2);
	/* Asked again, it says the same. */
	CHECK(http_head_parse(&h, two, strlen(two)) == HTTP_HEAD_DONE && h.len == strlen(two) / 2);
	CHECK(parse(two + h.len, h.len, &h) == HTTP_HEAD_DONE && str_eq(h.host, "b.test"));
}

static bool is_written(const char *text, const char *want)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct http_head h;

	if (!is_good(text, &h))
		return false;
	http_head_write(&h, text, &b);
	if (str_eq(b.text, want))
		return true;
	printf("# written: %s\n", b.text);
	return false;
}

static void DOOR_5_a_head_is_written_anew(void)
{
	CHECK(is_written("GET http://A.test/x?y HTTP/1.1\r\nProxy-Connection: keep-alive\r\nHost: "
			 "a.TEST\r\nX:  b c\t\r\n"
			 "Proxy-Authorization: x\r\nTE: trailers\r\nKeep-Alive: 5\r\n\r\n",
			 "GET /x?y HTTP/1.1\r\nHost: a.test\r\nX: b c\r\n\r\n"));
	CHECK(is_written(
		"POST http://a.test:81 HTTP/1.1\r\nContent-Length: 5\r\nHost: a.test:81\r\nConnection: "
		"close\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a.test:81\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"));
	CHECK(is_written(
		"PUT /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
		"HTTP2-Settings: AA\r\nTransfer-Encoding: chunked\r\n\r\n",
		"PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
	CHECK(is_written("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: "
			 "websocket\r\nSec-WebSocket-Key: x\r\n\r\n",
			 "GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: x\r\nConnection: "
			 "Upgrade\r\nUpgrade: websocket\r\n\r\n"));
	CHECK(is_written("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
			 "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"));
	CHECK(is_written("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"));
}

TAP_MAIN(T(DOOR_5_a_request_names_its_host), T(DOOR_5_target_and_host_must_agree),
	 T(DOOR_5_there_is_exactly_one_host), T(DOOR_5_line_ends_are_exact), T(DOOR_5_field_names_are_exact),
	 T(DOOR_5_the_length_of_a_body_has_one_reading), T(DOOR_5_chunks_have_one_reading),
	 T(DOOR_5_methods_without_a_body_have_none), T(DOOR_5_connection_options),
	 T(DOOR_5_heads_are_bounded), T(DOOR_5_the_next_request_is_not_read),
	 T(DOOR_5_a_head_is_written_anew))
