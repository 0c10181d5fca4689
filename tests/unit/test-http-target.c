/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/http-target.h"

#include <string.h>

#include "tap.h"

#define BYTES(text) (text), sizeof(text) - 1

static void DOOR_5_hosts_have_one_spelling(void)
{
	static const char *const bad[] = { "127.0.0.1",
					   "2130706433",
					   "0x7f.1",
					   "[::1]",
					   "[::ffff:127.0.0.1]",
					   "::1",
					   "a.test.",
					   "u@a",
					   "a.test/",
					   "a.test\\b",
					   "a.test#",
					   "a..b",
					   "*",
					   "",
					   "b\xc3\xbc"
					   "cher",
					   "a%2etest",
					   "a.test.:80",
					   ":80",
					   "a_.test,x" };
	static const char *const ports[] = { "a.test:",	     "a.test:0",      "a.test:65536", "a.test:080",
					     "a.test:8a",    "a.test:-1",     "a.test:+1",    "a.test: 80",
					     "a.test:80:80", "a.test:100000", "a:1@b" };
	char host[HOSTNAME_SIZE];
	uint16_t port;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *why = http_authority_parse(bad[i], strlen(bad[i]), host, &port);

		CHECK(why && strstr(why, "not a host name"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		const char *why = http_authority_parse(ports[i], strlen(ports[i]), host, &port);

		CHECK(why && strstr(why, "port"));
	}
	CHECK(!http_authority_parse(BYTES("A.test:65535"), host, &port) && str_eq(host, "a.test") &&
	      port == 65535);
	CHECK(!http_authority_parse(BYTES("a"), host, &port) && port == 0);
}

static void DOOR_5_malformed_request_lines_are_refused(void)
{
	static const char *const lines[] = {
		"GET /",
		"GET / HTTP/1.1 ",
		" GET / HTTP/1.1",
		"GET  / HTTP/1.1",
		"GET /  HTTP/1.1",
		"GET\t/ HTTP/1.1",
		"GET /\tHTTP/1.1",
		"GET / HTTP/1.2",
		"GET / HTTP/2.0",
		"GET / HTTP/01.1",
		"GET / http/1.1",
		"GET / HTTP/1.1x",
		"PRI * HTTP/2.0",
		"get / HTTP/1.1",
		"G@T / HTTP/1.1",
		" / HTTP/1.1",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1",
		"GET a HTTP/1.1",
		"GET * HTTP/1.1",
		"GET /a b HTTP/1.1",
		"GET /a#b HTTP/1.1",
		"GET //b.test/ HTTP/1.1",
		"GET /\\b.test HTTP/1.1",
		"GET /\xc3\xa4 HTTP/1.1",
		"GET https://a.test/ HTTP/1.1",
		"GET HTTP://a.test/ HTTP/1.1",
		"GET http:/a.test/ HTTP/1.1",
		"GET http:// HTTP/1.1",
		"GET http:/// HTTP/1.1",
		"GET http://a.test?x HTTP/1.1",
		"GET http://u@a.test/ HTTP/1.1",
		"GET http://a.test//b HTTP/1.1",
		"GET http://a.test:/ HTTP/1.1",
		"GET http://127.0.0.1/ HTTP/1.1",
		"GET http://[::1]/ HTTP/1.1",
		"GET a.test:443 HTTP/1.1",
		"CONNECT a.test HTTP/1.1",
		"CONNECT a.test:443/ HTTP/1.1",
		"CONNECT / HTTP/1.1",
		"CONNECT http://a.test:443/ HTTP/1.1",
		"CONNECT 1.2.3.4:443 HTTP/1.1",
		"CONNECT [2001:db8::1]:443 HTTP/1.1",
		"SSH-2.0-OpenSSH_9.2",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct http_head h = { 0 };

		CHECK(http_request_line_parse(&h, lines[i], strlen(lines[i])));
	}
}

static void DOOR_5_a_target_has_its_form(void)
{
	struct http_head origin = { 0 }, absolute = { 0 }, authority = { 0 }, asterisk = { 0 };

	CHECK(!http_request_line_parse(&origin, BYTES("M-SEARCH /a?b HTTP/1.0")));
	CHECK(origin.target == HTTP_TARGET_ORIGIN && str_eq(origin.method, "M-SEARCH") && origin.is_http10 &&
	      origin.path == 9 && origin.path_len == 4 && !origin.host[0]);
	CHECK(!http_request_line_parse(&absolute, BYTES("GET http://A.test:8/ HTTP/1.1")));
	CHECK(absolute.target == HTTP_TARGET_ABSOLUTE && str_eq(absolute.host, "a.test") &&
	      absolute.port == 8);
	CHECK(!http_request_line_parse(&authority, BYTES("CONNECT a:1 HTTP/1.1")));
	CHECK(authority.target == HTTP_TARGET_AUTHORITY && authority.port == 1);
	CHECK(!http_request_line_parse(&asterisk, BYTES("OPTIONS * HTTP/1.1")));
	CHECK(asterisk.target == HTTP_TARGET_ASTERISK && asterisk.path_len == 1);
}

TAP_MAIN(T(DOOR_5_hosts_have_one_spelling), T(DOOR_5_malformed_request_lines_are_refused),
	 T(DOOR_5_a_target_has_its_form))
