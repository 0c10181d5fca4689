/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/hostname.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"

#include "tap.h"

static int parse_bytes(const char *text, size_t len, char ret[HOSTNAME_SIZE])
{
	_cleanup_fault_ struct fault f = { 0 };
	int r = hostname_parse(text, len, ret, &f);

	if ((r < 0) != (f.code != 0) || (r < 0 && !f.text))
		abort();
	return r;
}

static bool is(const char *text, const char *want)
{
	char name[HOSTNAME_SIZE];

	return parse_bytes(text, strlen(text), name) == 0 && str_eq(name, want);
}

static bool is_refused(const char *text, const char *why)
{
	char name[HOSTNAME_SIZE] = "unchanged";
	_cleanup_fault_ struct fault f = { 0 };

	return hostname_parse(text, strlen(text), name, &f) == -EINVAL && strstr(fault_text(&f), why) &&
	       str_eq(name, "unchanged");
}

static void DOOR_5_a_name_has_one_spelling(void)
{
	CHECK(is("API.GitHub.com", "api.github.com"));
	CHECK(is("api.github.com.", "api.github.com"));
	CHECK(is("localhost", "localhost"));
	CHECK(is("_dmarc.a-b.c_d.test", "_dmarc.a-b.c_d.test"));
	CHECK(is("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"));
	CHECK(is("1.2.3.4.in-addr.arpa", "1.2.3.4.in-addr.arpa"));
	CHECK(is("0x7f.example", "0x7f.example"));
	CHECK(is("3com", "3com"));
	CHECK(is("a.0xg", "a.0xg"));
	CHECK(is("a.1a", "a.1a"));
}

static void DOOR_5_no_spelling_of_an_address_is_a_name(void)
{
	static const char *const v4[] = { "127.0.0.1",	"127.0.0.1.",	"2130706433", "0x7f000001",
					  "0X7F000001", "017700000001", "127.1",      "0x7f.1",
					  "0177.0.0.1", "127.0.0.0x1",	"1.2.3.4.5",  "a.1",
					  "a.b.0x",	"0x",		"0",	      "999999999999",
					  "256.1.1.1",	"08.0.0.09",	"1.0x7F." };
	static const char *const v6[] = {
		"::1", "[::1]",		"::ffff:127.0.0.1", "[::ffff:7f00:1]", "fe80::1%eth0",
		"::",  "2002:7f00:1::", "64:ff9b::1",	    "example.test:443"
	};

	for (size_t i = 0; i < ARRAY_SIZE(v4); i++)
		CHECK(is_refused(v4[i], "spelling of an address"));
	for (size_t i = 0; i < ARRAY_SIZE(v6); i++)
		CHECK(is_refused(v6[i], "IPv6"));
}

static void DOOR_5_names_that_programs_read_differently_are_refused(void)
{
	char name[HOSTNAME_SIZE];

	CHECK(is_refused("", "empty") && is_refused(".", "empty"));
	CHECK(is_refused("..", "label is empty") && is_refused("a..", "label is empty"));
	CHECK(is_refused(".a", "label is empty") && is_refused("a..b", "label is empty"));
	CHECK(is_refused("-a.test", "'-'") && is_refused("a-.test", "'-'") && is_refused("a.-", "'-'"));
	CHECK(is_refused("b\xc3\xbc"
			 "cher.test",
			 "xn--"));
	CHECK(is_refused("a\xe3\x80\x82test", "xn--"));
	CHECK(is_refused("\xef\xbc\x91.\xef\xbc\x92", "xn--"));
	CHECK(is_refused(" a.test", "blank") && is_refused("a.test\t", "blank"));
	CHECK(is_refused("a.test\n", "control") && is_refused("a\r.test", "control") &&
	      is_refused("a\x7f", "control"));
	CHECK(is_refused("*.test", "patterns"));
	CHECK(is_refused("u@a.test", "'@'") && is_refused("a.test/x", "'/'") && is_refused("a\\b", "'\\'") &&
	      is_refused("a,b", "','") && is_refused("a#b", "'#'"));
	/* A name in C ends at NUL, one in DNS does not. */
	CHECK(parse_bytes("a.test\0.evil", 12, name) == -EINVAL);
	CHECK(parse_bytes("\0", 1, name) == -EINVAL);
}

static void DOOR_5_lengths_are_those_of_DNS(void)
{
	char text[300], name[HOSTNAME_SIZE];

	memset(text, 'a', sizeof(text));
	CHECK(parse_bytes(text, 63, name) == 0 && strlen(name) == 63);
	CHECK(parse_bytes(text, 64, name) == -EINVAL);
	text[63] = text[127] = text[191] = '.';
	CHECK(parse_bytes(text, 253, name) == 0 && strlen(name) == 253);
	CHECK(parse_bytes(text, 254, name) == -EINVAL);
	text[253] = '.';
	CHECK(parse_bytes(text, 254, name) == 0 && strlen(name) == 253);
	CHECK(parse_bytes(text, 255, name) == -EINVAL);
}

TAP_MAIN(T(DOOR_5_a_name_has_one_spelling), T(DOOR_5_no_spelling_of_an_address_is_a_name),
	 T(DOOR_5_names_that_programs_read_differently_are_refused), T(DOOR_5_lengths_are_those_of_DNS))
