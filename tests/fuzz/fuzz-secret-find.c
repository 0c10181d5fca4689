/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <nettle/base64.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "credential/secret-find.h"

#define VALUE_MIN 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void search(const struct secret *s, const char *text, size_t len, bool must)
{
	bool found = false;

	if (secret_find(s, text, len, &found, NULL) < 0 || (must && !found))
		abort();
}

/* Percent-encoding of all of it is found as well. */
static void search_encoded(const struct secret *s)
{
	static const char digits[] = "0123456789abcdef";
	const size_t len = secret_len(s) * 3;
	_cleanup_free_ char *text = malloc(len);

	if (!text)
		return;
	for (size_t i = 0; i < secret_len(s); i++) {
		const unsigned char c = (unsigned char)secret_bytes(s)[i];

		text[i * 3] = '%';
		text[i * 3 + 1] = digits[c >> 4];
		text[i * 3 + 2] = digits[c & 15];
	}
	search(s, text, len, true);
}

/* And as numbers of HTML. */
static void search_html(const struct secret *s)
{
	const size_t room = secret_len(s) * 6 + 1;
	_cleanup_free_ char *text = malloc(room);
	size_t n = 0;

	if (!text)
		return;
	for (size_t i = 0; i < secret_len(s); i++) {
		const unsigned char c = (unsigned char)secret_bytes(s)[i];

		if (c >= 0x80)
			return;
		n += (size_t)snprintf(text + n, room - n, "&#%u;", c);
	}
	search(s, text, n, true);
}

/* Base64 behind OFFSET other bytes, in lines of WIDTH. */
static void search_base64(const struct secret *s, size_t offset, size_t width)
{
	const size_t len = offset + secret_len(s), room = BASE64_ENCODE_RAW_LENGTH(len);
	_cleanup_free_ uint8_t *plain = calloc(1, len);
	_cleanup_free_ char *line = malloc(room), *text = malloc(2 * room);
	size_t n = 0;

	if (!plain || !line || !text)
		return;
	memcpy(plain + offset, secret_bytes(s), secret_len(s));
	base64_encode_raw(line, len, plain);
	for (size_t i = 0; i < room; i++) {
		text[n++] = line[i];
		if (i % width == width - 1)
			text[n++] = '\n';
	}
	search(s, text, n, true);
}

static void search_hex(const struct secret *s, const char *between)
{
	const size_t room = secret_len(s) * 8 + 1;
	_cleanup_free_ char *text = malloc(room);
	size_t n = 0;

	if (!text)
		return;
	for (size_t i = 0; i < secret_len(s); i++)
		n += (size_t)snprintf(text + n, room - n, "%s%02X", between,
				      (unsigned char)secret_bytes(s)[i]);
	search(s, text, n, true);
}

static void search_wide(const struct secret *s)
{
	const size_t len = secret_len(s) * 2;
	_cleanup_free_ char *text = calloc(1, len);

	/* A NUL of the value is not told from one between its characters. */
	if (!text || memchr(secret_bytes(s), '\0', secret_len(s)))
		return;
	for (size_t i = 0; i < secret_len(s); i++)
		text[2 * i] = secret_bytes(s)[i];
	search(s, text, len, true);
}

/* The first byte says how many of the next ones are the value; it is put into the middle of the others. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_secret_ struct secret *s = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len, rest, half;

	if (size < 1 + VALUE_MIN)
		return 0;
	len = VALUE_MIN + data[0] % (size - VALUE_MIN);
	rest = size - 1 - len;
	half = rest / 2;
	text = malloc(size);
	if (!text || secret_new(len, &s, NULL) < 0 || secret_add(s, (const char *)data + 1, len, NULL) < 0)
		return 0;
	memcpy(text, data + 1 + len, rest);
	search(s, text, rest, false);
	memcpy(text, data + 1 + len, half);
	memcpy(text + half, data + 1, len);
	memcpy(text + half + len, data + 1 + len + half, rest - half);
	search(s, text, len + rest, true);
	search_encoded(s);
	search_html(s);
	search_base64(s, data[0] % 5, 1 + data[1]);
	search_hex(s, (const char *const[]){ "", " ", ":", ", 0x", "\\x" }[data[0] % 5]);
	search_wide(s);
	return 0;
}
