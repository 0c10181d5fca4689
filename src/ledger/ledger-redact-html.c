/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-redact-html.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"

#define REFERENCE_MAX 16
#define CODE_MAX 0xffff

size_t redact_put_utf8(char *to, int c)
{
	size_t n = 0;

	if (c < 0x80) {
		to[n++] = (char)c;
		return n;
	}
	if (c < 0x800) {
		to[n++] = (char)(0xc0 | c >> 6);
	} else {
		to[n++] = (char)(0xe0 | c >> 12);
		to[n++] = (char)(0x80 | (c >> 6 & 63));
	}
	to[n++] = (char)(0x80 | (c & 63));
	return n;
}

static int digit(char c)
{
	const char low = (char)(c | 32);

	return c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* "#47" or "#x2f"; -1: another text. */
static int read_number(const char *at, size_t len)
{
	const bool hex = len > 2 && (at[1] | 32) == 'x';
	int value = 0;

	for (size_t i = hex ? 2 : 1; i < len; i++) {
		const int d = digit(at[i]);

		if (d < 0 || (!hex && d > 9))
			return -1;
		value = value * (hex ? 16 : 10) + d;
		if (value > CODE_MAX)
			return -1;
	}
	return value;
}

static int read_name(const char *at, size_t len)
{
	static const struct {
		const char *text;
		char c;
	} names[] = {
		{ "amp", '&' }, { "lt", '<' },	   { "gt", '>' },   { "quot", '"' },  { "apos", '\'' },
		{ "sol", '/' }, { "equals", '=' }, { "plus", '+' }, { "grave", '`' }, { "percnt", '%' }
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (len == strlen(names[i].text) && memcmp(at, names[i].text, len) == 0)
			return names[i].c;
	return -1;
}

/* "&#47;", "&#x2f;" or "&amp;" at AT: its character and length; 0: another text. */
static size_t read_reference(const char *at, size_t left, int *ret)
{
	const char *end = memchr(at, ';', left < REFERENCE_MAX ? left : REFERENCE_MAX);
	const size_t len = end ? (size_t)(end - at) : 0;

	if (len < 3)
		return 0;
	*ret = at[1] == '#' ? read_number(at + 1, len - 1) : read_name(at + 1, len - 1);
	return *ret >= 0 ? len + 1 : 0;
}

size_t redact_decode_html(char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		int c = 0;
		const size_t reference = text[i] == '&' ? read_reference(text + i, len - i, &c) : 0;

		if (reference)
			n += redact_put_utf8(text + n, c);
		else
			text[n++] = text[i];
		i += reference ? reference : 1;
	}
	return n;
}
