/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "credential/secret-find.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LINE_MIN 16
#define LINES_MAX 64
#define ENTITY_MAX 16
#define NEST 2 /* JSON in a string of JSON; a URL in a parameter of a URL */

/* The texts that are searched for.  All of them are as secret as the value. */
struct needles {
	const struct secret *value;
	struct secret *squeezed, *base64[3], *hex; /* SQUEEZED: without white space */
	struct secret *form;			   /* with blanks for '+', which means one in a form */
};

static void needles_done(struct needles *n)
{
	secret_free(n->squeezed);
	for (size_t i = 0; i < ARRAY_SIZE(n->base64); i++)
		secret_free(n->base64[i]);
	secret_free(n->hex);
	secret_free(n->form);
}

static size_t squeeze(char *to, const char *from, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		if (!isspace((unsigned char)from[i]))
			to[n++] = from[i];
	return n;
}

static unsigned char byte_at(const struct secret *s, size_t i, size_t before)
{
	return i < before || i - before >= secret_len(s) ? 0 : (unsigned char)secret_bytes(s)[i - before];
}

/* As the value is spelled behind BEFORE other bytes, without the digits that also depend on its neighbours. */
static int make_base64(const struct secret *s, size_t before, struct secret **ret, struct fault *f)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const size_t bits = (before + secret_len(s)) * 8, first = (before * 8 + 5) / 6, end = bits / 6;
	int r = secret_new(end - first + 1, ret, f);

	for (size_t i = first; r == 0 && i < end; i++) {
		const size_t at = i * 6 / 8, shift = 10 - i * 6 % 8;
		const unsigned int two =
			(unsigned int)byte_at(s, at, before) << 8 | byte_at(s, at + 1, before);

		r = secret_add(*ret, &digits[two >> shift & 63], 1, f);
	}
	return r;
}

static int make_hex(const struct secret *s, struct secret **ret, struct fault *f)
{
	static const char digits[] = "0123456789abcdef";
	int r = secret_new(secret_len(s) * 2, ret, f);

	for (size_t i = 0; r == 0 && i < secret_len(s); i++) {
		const unsigned char c = byte_at(s, i, 0);
		const char two[2] = { digits[c >> 4], digits[c & 15] };

		r = secret_add(*ret, two, 2, f);
	}
	return r;
}

static void put_blanks(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '+')
			text[i] = ' ';
}

static int make_form(const struct secret *s, struct secret **ret, struct fault *f)
{
	size_t left;
	char *room;
	int r = secret_new(secret_len(s), ret, f);

	if (r < 0)
		return r;
	room = secret_room(*ret, &left);
	memcpy(room, secret_bytes(s), secret_len(s));
	put_blanks(room, secret_len(s));
	secret_grow(*ret, secret_len(s));
	return 0;
}

static int make_needles(struct needles *n, struct fault *f)
{
	size_t left;
	int r = secret_new(secret_len(n->value), &n->squeezed, f);

	if (r == 0) {
		char *room = secret_room(n->squeezed, &left);

		secret_grow(n->squeezed, squeeze(room, secret_bytes(n->value), secret_len(n->value)));
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(n->base64); i++)
		r = make_base64(n->value, i, &n->base64[i], f);
	if (r == 0)
		r = make_form(n->value, &n->form, f);
	return r == 0 ? make_hex(n->value, &n->hex, f) : r;
}

static bool has(const char *text, size_t len, const struct secret *s)
{
	return secret_len(s) > 0 && memmem(text, len, secret_bytes(s), secret_len(s));
}

static bool has_line(const char *text, size_t len, const struct secret *s)
{
	const char *at = secret_bytes(s), *end = at + secret_len(s);

	for (int n = 0; at < end && n < LINES_MAX; n++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));
		size_t line = (size_t)((next ? next : end) - at);

		if (line > 0 && at[line - 1] == '\r')
			line--;
		if (line >= LINE_MIN && memmem(text, len, at, line))
			return true;
		at = next ? next + 1 : end;
	}
	return false;
}

/* ROOM has LEN bytes. */
static bool is_in(const struct needles *n, const char *text, size_t len, char *room)
{
	if (has(text, len, n->value) || has_line(text, len, n->value))
		return true;
	len = squeeze(room, text, len);
	if (secret_len(n->squeezed) >= LINE_MIN / 2 && has(room, len, n->squeezed))
		return true;
	for (size_t i = 0; i < len; i++)
		room[i] = (char)(room[i] == '-' ? '+' : room[i] == '_' ? '/' : room[i]);
	for (size_t i = 0; i < ARRAY_SIZE(n->base64); i++)
		if (has(room, len, n->base64[i]))
			return true;
	for (size_t i = 0; i < len; i++)
		room[i] = (char)tolower((unsigned char)room[i]);
	return has(room, len, n->hex);
}

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* N hex digits; -1: other characters. */
static int number(const char *at, size_t left, size_t n)
{
	int value = 0;

	for (size_t i = 0; i < n; i++) {
		if (i >= left || digit(at[i]) < 0)
			return -1;
		value = value * 16 + digit(at[i]);
	}
	return value;
}

static size_t put_utf8(char *to, int c)
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

/* In place: what a string of JSON means.  Six bytes become at most three. */
static size_t unescape(char *text, size_t len)
{
	static const char names[] = "nrtbf", values[] = "\n\r\t\b\f";
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const char c = i + 1 < len ? text[i + 1] : '\0';
		const char *known = c ? strchr(names, c) : NULL;
		const int code = text[i] == '\\' && c == 'u' ? number(text + i + 2, len - i - 2, 4) : -1;

		if (text[i] != '\\' || !c) {
			text[n++] = text[i];
		} else if (code >= 0) {
			n += put_utf8(text + n, code);
			i += 5;
		} else {
			text[n++] = known ? values[known - names] : c;
			i++;
		}
	}
	return n;
}

/* In place. */
static size_t decode_percent(char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const int code = text[i] == '%' ? number(text + i + 1, len - i - 1, 2) : -1;

		text[n++] = code >= 0 ? (char)code : text[i];
		i += code >= 0 ? 2 : 0;
	}
	return n;
}

/* "&#47;", "&#x2f;" or "&amp;" at AT: its character and length; 0: another text. */
static size_t read_entity(const char *at, size_t left, int *ret)
{
	static const struct {
		const char *text;
		char c;
	} names[] = {
		{ "amp", '&' }, { "lt", '<' },	   { "gt", '>' },   { "quot", '"' },  { "apos", '\'' },
		{ "sol", '/' }, { "equals", '=' }, { "plus", '+' }, { "grave", '`' }, { "percnt", '%' }
	};
	const char *end = memchr(at, ';', left < ENTITY_MAX ? left : ENTITY_MAX);
	const size_t len = end ? (size_t)(end - at) : 0;
	const bool hex = len > 3 && (at[2] == 'x' || at[2] == 'X');
	int value = 0;

	if (len < 3)
		return 0;
	for (size_t i = 0; at[1] != '#' && i < ARRAY_SIZE(names); i++)
		if (len - 1 == strlen(names[i].text) && memcmp(at + 1, names[i].text, len - 1) == 0) {
			*ret = (unsigned char)names[i].c;
			return len + 1;
		}
	for (size_t i = hex ? 3 : 2; i < len; i++) {
		const int d = digit(at[i]);

		if (at[1] != '#' || d < 0 || (!hex && d > 9) || value > 0xffff)
			return 0;
		value = value * (hex ? 16 : 10) + d;
	}
	*ret = value;
	return value <= 0xffff ? len + 1 : 0;
}

/* In place: what a text of HTML means.  Four bytes or more become at most three. */
static size_t decode_html(char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len;) {
		int c = 0;
		const size_t entity = text[i] == '&' ? read_entity(text + i, len - i, &c) : 0;

		if (entity)
			n += put_utf8(text + n, c);
		else
			text[n++] = text[i];
		i += entity ? entity : 1;
	}
	return n;
}

static bool search(const struct needles *n, char *text, size_t len, char *room)
{
	if (is_in(n, text, len, room))
		return true;
	for (int i = 0; i < NEST; i++) {
		len = unescape(text, len);
		if (is_in(n, text, len, room))
			return true;
	}
	for (int i = 0; i < NEST; i++) {
		len = decode_html(text, len);
		if (is_in(n, text, len, room))
			return true;
	}
	for (int i = 0; i < NEST; i++) {
		len = decode_percent(text, len);
		if (is_in(n, text, len, room))
			return true;
	}
	put_blanks(text, len);
	return has(text, len, n->form);
}

int secret_find(const struct secret *s, const char *text, size_t len, bool *ret, struct fault *f)
{
	_cleanup_(needles_done) struct needles n = { .value = s };
	char *copy = malloc(len + 1), *room = malloc(len + 1);
	int r = copy && room ? make_needles(&n, f) : fault_errno(f, ENOMEM, "search for a credential");

	if (r == 0) {
		memcpy(copy, text, len);
		*ret = search(&n, copy, len, room);
	}
	/* They may hold the value. */
	if (copy)
		explicit_bzero(copy, len);
	if (room)
		explicit_bzero(room, len);
	free(copy);
	free(room);
	return r;
}
