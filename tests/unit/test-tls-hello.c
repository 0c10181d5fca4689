/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/tls-hello.h"

#include <string.h>

#include "base/str.h"

#include "tap.h"

#define BYTES(text) (text), sizeof(text) - 1

struct bytes {
	uint8_t at[6 * TLS_HELLO_MAX];
	size_t len;
};

static void add(struct bytes *b, const void *more, size_t len)
{
	if (b->len + len > sizeof(b->at))
		abort();
	if (len > 0)
		memcpy(b->at + b->len, more, len);
	b->len += len;
}

static void add_number(struct bytes *b, size_t number, size_t size)
{
	while (size-- > 0)
		add(b, &(uint8_t){ (uint8_t)(number >> 8 * size) }, 1);
}

static void add_extension(struct bytes *b, size_t type, const void *data, size_t len)
{
	add_number(b, type, 2);
	add_number(b, len, 2);
	add(b, data, len);
}

static void add_name(struct bytes *b, const char *name)
{
	static struct bytes data;

	data.len = 0;
	add_number(&data, strlen(name) + 3, 2);
	add_number(&data, 0, 1);
	add_number(&data, strlen(name), 2);
	add(&data, name, strlen(name));
	add_extension(b, 0, data.at, data.len);
}

/* A message with these extensions; NULL: without any. */
static void make_message(struct bytes *m, const struct bytes *extensions)
{
	static struct bytes body;

	body.len = m->len = 0;
	add_number(&body, 0x0303, 2);
	for (size_t i = 0; i < 32; i++)
		add_number(&body, i, 1);
	add_number(&body, 0, 1);
	add(&body, BYTES("\0\2\x13\1"));
	add(&body, BYTES("\1\0"));
	if (extensions) {
		add_number(&body, extensions->len, 2);
		add(&body, extensions->at, extensions->len);
	}
	add_number(m, 1, 1);
	add_number(m, body.len, 3);
	add(m, body.at, body.len);
}

/* In records of at most SIZE bytes. */
static void make_records(struct bytes *r, const struct bytes *message, size_t size)
{
	r->len = 0;
	for (size_t at = 0; at < message->len; at += size) {
		const size_t len = message->len - at < size ? message->len - at : size;

		add(r, BYTES("\x16\3\1"));
		add_number(r, len, 2);
		add(r, message->at + at, len);
	}
}

static enum tls_hello_state parse(const struct bytes *r, struct tls_hello *ret)
{
	uint8_t *copy = malloc(r->len ? r->len : 1);
	enum tls_hello_state state;

	if (!copy)
		abort();
	memcpy(copy, r->at, r->len);
	state = tls_hello_parse(copy, r->len, ret);
	free(copy);
	if ((state == TLS_HELLO_BAD) != (ret->why != NULL) || (state != TLS_HELLO_DONE && ret->name[0]))
		abort();
	return state;
}

static enum tls_hello_state parse_extensions(const struct bytes *e, struct tls_hello *ret)
{
	static struct bytes message, records;

	make_message(&message, e);
	make_records(&records, &message, 16384);
	return parse(&records, ret);
}

static bool is_bad(const struct bytes *e, const char *why)
{
	struct tls_hello h;

	return parse_extensions(e, &h) == TLS_HELLO_BAD && strstr(h.why, why);
}

/* One extension, raw. */
static bool is_bad_extension(size_t type, const char *data, size_t len, const char *why)
{
	static struct bytes e;

	e.len = 0;
	add_extension(&e, type, data, len);
	return is_bad(&e, why);
}

static void DOOR_5_the_server_name_is_canonical(void)
{
	static struct bytes e;
	struct tls_hello h;

	e.len = 0;
	add_extension(&e, 0x5a5a, NULL, 0);
	add_name(&e, "API.GitHub.com");
	add_extension(&e, 16, BYTES("\0\x0c\2h2\x8http/1.1"));
	CHECK(parse_extensions(&e, &h) == TLS_HELLO_DONE);
	CHECK(str_eq(h.name, "api.github.com") && h.has_alpn && h.has_h2 && h.has_http11 && !h.has_ech);
	e.len = 0;
	add_extension(&e, 16, BYTES("\0\x4\3ssh"));
	add_extension(&e, 0xfe0d, BYTES("x"));
	CHECK(parse_extensions(&e, &h) == TLS_HELLO_DONE && !h.name[0] && h.has_ech && h.has_alpn &&
	      !h.has_h2 && !h.has_http11);
	CHECK(parse_extensions(NULL, &h) == TLS_HELLO_DONE && !h.name[0] && !h.has_alpn);
}

static void DOOR_5_a_hello_comes_in_any_pieces(void)
{
	static struct bytes e, message, records, part;
	struct tls_hello h;

	e.len = 0;
	add_name(&e, "a.test");
	make_message(&message, &e);
	for (size_t size = 5; size <= message.len + 1; size++) {
		make_records(&records, &message, size);
		for (size_t len = 0; len < records.len; len++) {
			part.len = 0;
			add(&part, records.at, len);
			CHECK(parse(&part, &h) == TLS_HELLO_MORE);
		}
		CHECK(parse(&records, &h) == TLS_HELLO_DONE && h.len == records.len &&
		      str_eq(h.name, "a.test"));
		/* Early data is no part of it. */
		add(&records, BYTES("\x14\3\3\0\1\1"));
		CHECK(parse(&records, &h) == TLS_HELLO_DONE && h.len == records.len - 6);
	}
}

static void DOOR_5_two_names_are_refused(void)
{
	static struct bytes e;

	e.len = 0;
	add_name(&e, "a.test");
	add_name(&e, "b.test");
	CHECK(is_bad(&e, "twice"));
	CHECK(is_bad_extension(0, BYTES("\0\x8\0\0\1a\0\0\1b"), "more than one"));
	CHECK(is_bad_extension(0, BYTES("\0\x8\1\0\1a\0\0\1b"), "malformed"));
	CHECK(is_bad_extension(0, BYTES("\0\4\0\0\1a\0\0\1b"), "malformed"));
	CHECK(is_bad_extension(0, BYTES(""), "malformed") && is_bad_extension(0, BYTES("\0\0"), "malformed"));
	CHECK(is_bad_extension(0, BYTES("\0\4\0\0\2a"), "malformed"));
	CHECK(is_bad_extension(0, BYTES("\0\5\0\0\1a"), "malformed"));
	CHECK(is_bad_extension(0, BYTES("\0\3\0\0\0"), "not a host name"));
}

static void DOOR_5_names_that_are_no_hosts_are_refused(void)
{
	static const char *const names[] = { "127.0.0.1",
					     "a.test.",
					     "a..test",
					     "[::1]",
					     "::1",
					     "a b",
					     "0x7f.1",
					     "*.test",
					     ".",
					     "b\xc3\xbc"
					     "cher",
					     "a\n" };
	static struct bytes e;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		e.len = 0;
		add_name(&e, names[i]);
		CHECK(is_bad(&e, "not a host name"));
	}
	/* Servers in C stop at NUL. */
	CHECK(is_bad_extension(0,
			       BYTES("\0\xb\0\0\x8"
				     "a.test\0x"),
			       "not a host name"));
}

static void DOOR_5_malformed_extensions_are_refused(void)
{
	static struct bytes e;

	CHECK(is_bad_extension(16, BYTES("\0\0"), "ALPN") && is_bad_extension(16, BYTES("\0\1\0"), "ALPN"));
	CHECK(is_bad_extension(16, BYTES("\0\3\2h2x"), "ALPN") &&
	      is_bad_extension(16, BYTES("\0\3\3h2"), "ALPN"));
	e.len = 0;
	add(&e, BYTES("\0\x2b\0\5\0"));
	CHECK(is_bad(&e, "malformed extensions"));
	e.len = 0;
	add(&e, BYTES("\0\x2b\0"));
	CHECK(is_bad(&e, "malformed extensions"));
	e.len = 0;
	for (size_t i = 0; i < 200; i++)
		add_extension(&e, 1000 + i, NULL, 0);
	CHECK(is_bad(&e, "too many extensions"));
	e.len = 0;
	add_extension(&e, 43, NULL, 0);
	add_extension(&e, 43, NULL, 0);
	CHECK(is_bad(&e, "twice"));
}

/* The message with byte AT replaced, or SIZE cut off at its end, its own length corrected. */
static bool is_bad_message(size_t at, uint8_t byte, size_t cut, const char *why)
{
	static struct bytes message, records;
	struct tls_hello h;

	make_message(&message, NULL);
	message.at[at] = byte;
	message.len -= cut;
	message.at[3] = (uint8_t)(message.len - 4);
	make_records(&records, &message, 16384);
	return parse(&records, &h) == TLS_HELLO_BAD && strstr(h.why, why);
}

static void DOOR_5_malformed_hellos_are_refused(void)
{
	CHECK(is_bad_message(0, 2, 0, "not a ClientHello"));
	CHECK(is_bad_message(4, 2, 0, "not TLS") && is_bad_message(5, 0, 0, "not TLS") &&
	      is_bad_message(5, 4, 0, "not TLS"));
	CHECK(is_bad_message(38, 33, 0, "session id") && is_bad_message(38, 8, 0, "session id"));
	CHECK(is_bad_message(40, 3, 0, "cipher") && is_bad_message(40, 0, 0, "cipher") &&
	      is_bad_message(39, 1, 0, "cipher"));
	CHECK(is_bad_message(43, 0, 0, "compression") && is_bad_message(43, 9, 0, "compression"));
	CHECK(is_bad_message(43, 1, 1, "compression") && is_bad_message(43, 1, 2, "compression"));
	CHECK(is_bad_message(5, 3, 20, "session id"));
	CHECK(is_bad_message(5, 3, 40, "not TLS"));
}

static bool is_bad_raw(const char *text, size_t len, const char *why)
{
	static struct bytes b;
	struct tls_hello h;

	b.len = 0;
	add(&b, text, len);
	return parse(&b, &h) == TLS_HELLO_BAD && strstr(h.why, why);
}

static void DOOR_5_other_protocols_are_refused_at_once(void)
{
	CHECK(is_bad_raw(BYTES("SSH-2.0-OpenSSH"), "not TLS") && is_bad_raw(BYTES("S"), "not TLS"));
	CHECK(is_bad_raw(BYTES("GET / HTTP/1.1\r\n"), "not TLS"));
	CHECK(is_bad_raw(BYTES("\x80\x2e\1\0\2"), "not TLS")); /* SSL 2 */
	CHECK(is_bad_raw(BYTES("\x16\2"), "not TLS") && is_bad_raw(BYTES("\x16\3\0"), "not TLS"));
	CHECK(is_bad_raw(BYTES("\x16\xfe\xff"), "not TLS")); /* DTLS */
	CHECK(is_bad_raw(BYTES("\x16\3\1\0\0"), "wrong length") &&
	      is_bad_raw(BYTES("\x16\3\1\x40\1"), "wrong length"));
	CHECK(is_bad_raw(BYTES("\x17\3\3\0\1x"), "not TLS") &&
	      is_bad_raw(BYTES("\x15\3\1\0\2\1\0"), "not TLS"));
	CHECK(is_bad_raw(BYTES("\x16\3\1\0\1\1\x15\3\1\0\2\1\0"), "another kind"));
	/* A message longer than any, said in its first bytes; a record longer than its message. */
	CHECK(is_bad_raw(BYTES("\x16\3\1\0\4\1\0\x40\1"), "too long"));
	CHECK(is_bad_raw(BYTES("\x16\3\1\0\5\1\0\0\0"), "behind the hello"));
}

static void DOOR_5_the_length_of_a_hello_is_bounded(void)
{
	static struct bytes e, message, records;
	static const uint8_t zeros[70000];
	struct tls_hello h;

	e.len = 0;
	add_extension(&e, 21, zeros, TLS_HELLO_MESSAGE_MAX - 41 - 2 - 4);
	make_message(&message, &e);
	CHECK(message.len == TLS_HELLO_MESSAGE_MAX + 4);
	make_records(&records, &message, 1025);
	CHECK(records.len == TLS_HELLO_MAX && parse(&records, &h) == TLS_HELLO_DONE);
	make_records(&records, &message, 1000);
	CHECK(parse(&records, &h) == TLS_HELLO_BAD);
	/* One byte per record: the client must not choose how long this takes. */
	make_records(&records, &message, 1);
	records.len = 16 * 6;
	CHECK(parse(&records, &h) == TLS_HELLO_BAD && strstr(h.why, "too many records"));
	e.len = 0;
	add_extension(&e, 21, zeros, TLS_HELLO_MESSAGE_MAX - 41 - 2 - 3);
	make_message(&message, &e);
	make_records(&records, &message, 16384);
	CHECK(parse(&records, &h) == TLS_HELLO_BAD && strstr(h.why, "too long"));
}

TAP_MAIN(T(DOOR_5_the_server_name_is_canonical), T(DOOR_5_a_hello_comes_in_any_pieces),
	 T(DOOR_5_two_names_are_refused), T(DOOR_5_names_that_are_no_hosts_are_refused),
	 T(DOOR_5_malformed_extensions_are_refused), T(DOOR_5_malformed_hellos_are_refused),
	 T(DOOR_5_other_protocols_are_refused_at_once), T(DOOR_5_the_length_of_a_hello_is_bounded))
