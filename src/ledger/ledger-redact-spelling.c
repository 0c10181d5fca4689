/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger-redact-html.h"
#include "ledger/ledger-redact.h"

#define SQUEEZED_MIN 8 /* bytes of a value that are found with any white space between them */
#define NEST 2	       /* JSON in a string of JSON; a URL in a parameter of a URL */

/*
 * The text is decoded and then searched for the values: no copy of a value is made, and the time is linear in the text whatever the
 * values are.
 */
struct search {
	const struct redact_secret *secrets;
	size_t n;
	char *room;		       /* as many bytes as the text has */
	uint8_t base64[256], hex[256]; /* the value of a digit, or these: */
};
#define NONE 0xff    /* ends digits */
#define BETWEEN 0xfe /* may stand between them */
#define BLANKS "\t\n\v\f\r "

static bool has(const struct search *s, const char *text, size_t len)
{
	return redact_find_secret(text, len, s->secrets, s->n);
}

/* Without the NULs that are between the characters in UTF-16; ROOM is the text itself or has as many bytes. */
static bool has_wide(const struct search *s, const char *text, size_t len, char *room)
{
	size_t n = 0;

	if (!memchr(text, '\0', len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i])
			room[n++] = text[i];
	return has(s, room, n);
}

/* NULs are between the characters of UTF-16. */
static bool is_blank(char c)
{
	return !c || c == ' ' || (c >= '\t' && c <= '\r');
}

/* Is the value, without its white space, at P? */
static bool is_squeezed(const char *p, const char *end, const struct redact_secret *value)
{
	for (size_t i = 0; i < value->len; i++) {
		if (is_blank(value->at[i]))
			continue;
		if (p == end || *p++ != value->at[i])
			return false;
	}
	return true;
}

/* TEXT has no white space. */
static bool has_squeezed(const char *text, size_t len, const struct redact_secret *value)
{
	const char *end = text + len;
	size_t n = 0, first = 0;

	for (size_t i = value->len; i > 0; i--)
		if (!is_blank(value->at[i - 1])) {
			first = i - 1;
			n++;
		}
	if (n < SQUEEZED_MIN)
		return false;
	for (const char *p = text; (p = memchr(p, value->at[first], (size_t)(end - p))); p++)
		if (is_squeezed(p, end, value))
			return true;
	return false;
}

static bool has_any_squeezed(const struct search *s, const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (!is_blank(text[i]))
			s->room[n++] = text[i];
	for (size_t i = 0; i < s->n; i++)
		if (has_squeezed(s->room, n, &s->secrets[i]))
			return true;
	return false;
}

static void fill(uint8_t digits[256], const char *of, const char *between)
{
	memset(digits, NONE, 256);
	for (size_t i = 0; of[i]; i++)
		digits[(uint8_t)of[i]] = (uint8_t)i;
	for (digits[0] = BETWEEN; *between; between++)
		digits[(uint8_t)*between] = BETWEEN;
}

static void fill_all(struct search *s)
{
	fill(s->base64, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", BLANKS);
	s->base64['-'] = s->base64['+'];
	s->base64['_'] = s->base64['/'];
	fill(s->hex, "0123456789abcdef", BLANKS ":,;-");
	for (int c = 'a'; c <= 'f'; c++)
		s->hex[c - 32] = s->hex[c];
}

/* Of each run of digits what it means behind its first SKIP ones; runs are kept apart. */
static size_t decode_base64(const struct search *s, const char *text, size_t len, unsigned int skip)
{
	unsigned int bits = 0, n_bits = 0, left = skip;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const uint8_t digit = s->base64[(uint8_t)text[i]];

		if (digit == BETWEEN)
			continue;
		if (digit == NONE) {
			if (n > 0 && s->room[n - 1] != '\n')
				s->room[n++] = '\n';
			n_bits = 0;
			left = skip;
			continue;
		}
		if (left > 0) {
			left--;
			continue;
		}
		bits = bits << 6 | digit;
		n_bits += 6;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		s->room[n++] = (char)(uint8_t)(bits >> n_bits);
	}
	return n;
}

/* Of pairs of hexadecimal digits, also with punctuation between them and as "0x41" and "\x41". */
static size_t decode_hex(const struct search *s, const char *text, size_t len, unsigned int skip)
{
	unsigned int value = 0, digits = 0;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const uint8_t digit = s->hex[(uint8_t)text[i]];
		const bool prefix = (text[i] == '0' || text[i] == '\\') && i + 1 < len && text[i + 1] == 'x';

		if (prefix || digit == BETWEEN) {
			i += prefix;
			continue;
		}
		if (digit == NONE) {
			digits = 0;
			continue;
		}
		value = value << 4 | digit;
		if (++digits > skip && (digits - skip) % 2 == 0)
			s->room[n++] = (char)(uint8_t)value;
	}
	return n;
}

static bool has_decoded(const struct search *s, size_t len)
{
	return has(s, s->room, len) || has_wide(s, s->room, len, s->room);
}

static bool is_in(const struct search *s, const char *text, size_t len)
{
	if (has(s, text, len) || has_wide(s, text, len, s->room) || has_any_squeezed(s, text, len))
		return true;
	for (unsigned int skip = 0; skip < 4; skip++)
		if (has_decoded(s, decode_base64(s, text, len, skip)))
			return true;
	for (unsigned int skip = 0; skip < 2; skip++)
		if (has_decoded(s, decode_hex(s, text, len, skip)))
			return true;
	return false;
}

/* N hex digits; -1: other characters. */
static int number(const struct search *s, const char *at, size_t left, size_t n)
{
	int value = 0;

	for (size_t i = 0; i < n; i++) {
		if (i >= left || s->hex[(uint8_t)at[i]] > 15)
			return -1;
		value = value * 16 + s->hex[(uint8_t)at[i]];
	}
	return value;
}

/* In place: what a string of JSON means.  Six bytes become at most three. */
static size_t unescape(const struct search *s, char *text, size_t len)
{
	static const char names[] = "nrtbf", values[] = "\n\r\t\b\f";
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const char c = i + 1 < len ? text[i + 1] : '\0';
		const char *known = c ? strchr(names, c) : NULL;
		const int code = text[i] == '\\' && c == 'u' ? number(s, text + i + 2, len - i - 2, 4) : -1;

		if (text[i] != '\\' || !c) {
			text[n++] = text[i];
		} else if (code >= 0) {
			n += redact_put_utf8(text + n, code);
			i += 5;
		} else {
			text[n++] = known ? values[known - names] : c;
			i++;
		}
	}
	return n;
}

/* In place. */
static size_t decode_percent(const struct search *s, char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const int code = text[i] == '%' ? number(s, text + i + 1, len - i - 1, 2) : -1;

		text[n++] = code >= 0 ? (char)code : text[i];
		i += code >= 0 ? 2 : 0;
	}
	return n;
}

static size_t decode_html(const struct search *s, char *text, size_t len)
{
	(void)s;
	return redact_decode_html(text, len);
}

/* A '+' means a blank in a form: the two are the same here.  A value without either was found before. */
static bool has_in_form(const char *text, size_t len, const struct redact_secret *value)
{
	if (!memchr(value->at, '+', value->len) && !memchr(value->at, ' ', value->len))
		return false;
	for (size_t at = 0; at + value->len <= len && value->len > 0; at++) {
		size_t i = 0;

		while (i < value->len && (text[at + i] == '+' ? ' ' : text[at + i]) ==
						 (value->at[i] == '+' ? ' ' : value->at[i]))
			i++;
		if (i == value->len)
			return true;
	}
	return false;
}

/* Decodes the text up to NEST times, as long as it becomes another one. */
static bool is_in_decoded(const struct search *s, char *text, size_t *len,
			  size_t (*decode)(const struct search *s, char *text, size_t len))
{
	for (int i = 0; i < NEST; i++) {
		const size_t n = decode(s, text, *len);

		if (n == *len)
			return false;
		*len = n;
		if (is_in(s, text, n))
			return true;
	}
	return false;
}

/* COPY is a copy of the text. */
static bool search(const struct search *s, char *copy, size_t len)
{
	if (is_in(s, copy, len) || is_in_decoded(s, copy, &len, unescape) ||
	    is_in_decoded(s, copy, &len, decode_html) || is_in_decoded(s, copy, &len, decode_percent))
		return true;
	for (size_t i = 0; i < s->n && memchr(copy, '+', len); i++)
		if (has_in_form(copy, len, &s->secrets[i]))
			return true;
	return false;
}

int redact_find_spelled(const char *bytes, size_t len, const struct redact_secret *secrets, size_t n,
			bool *ret)
{
	struct search s;
	char *copy = NULL;
	int r = 0;

	*ret = false;
	if (n == 0 || len == 0)
		return 0;
	s.secrets = secrets;
	s.n = n;
	fill_all(&s);
	copy = malloc(len);
	s.room = malloc(len);
	if (copy && s.room) {
		memcpy(copy, bytes, len);
		*ret = search(&s, copy, len);
	} else {
		r = -ENOMEM;
	}
	/* They may hold a value. */
	if (copy)
		explicit_bzero(copy, len);
	if (s.room)
		explicit_bzero(s.room, len);
	free(copy);
	free(s.room);
	return r;
}
