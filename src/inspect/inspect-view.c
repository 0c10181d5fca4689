/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect-impl.h"

/*
 * Encoded texts are decoded and scanned like the text itself, at most INSPECT_VIEWS_MAX encodings deep.  A view is never
 * longer than what it was made from, so the work stays linear.
 */

static int digit_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

/* Both alphabets; bytes of neither are skipped. */
static size_t decode_base64(const char *p, size_t len, char *out)
{
	uint32_t bits = 0;
	unsigned int n_bits = 0;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		const int digit = digit_of(p[i]);

		if (digit < 0)
			continue;
		bits = bits << 6 | (uint32_t)digit;
		n_bits += 6;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		out[n++] = (char)(uint8_t)(bits >> n_bits);
	}
	return n;
}

void inspect_view(const struct inspect_scan *s, const char *view, size_t len, size_t at)
{
	struct inspect_scan next = *s;

	next.at = s->depth > 0 ? s->at : at;
	next.depth++;
	inspect_scan_bytes(&next, view, len);
}

static char *get_room(const struct inspect_scan *s, size_t len)
{
	char *room = malloc(len + 1);

	if (!room)
		inspect_broken(s->found);
	return room;
}

void inspect_view_base64(const struct inspect_scan *s, const char *p, size_t at, size_t end)
{
	char small[256];
	_cleanup_free_ char *large = end - at > sizeof(small) ? get_room(s, end - at) : NULL;
	char *view = end - at > sizeof(small) ? large : small;
	size_t n;

	if (!view)
		return;
	n = decode_base64(p + at, end - at, view);
	inspect_view(s, view, n, at);
	explicit_bzero(view, n);
}

bool inspect_view_is_login(const char *p, size_t len)
{
	char view[192];
	const size_t n = decode_base64(p, len > 256 ? 256 : len, view);
	const char *colon = memchr(view, ':', n);
	bool plain = true;

	for (size_t i = 0; i < n; i++)
		plain = plain && view[i] >= ' ' && view[i] != 0x7f;
	plain = plain && colon && colon > view && colon + 1 < view + n;
	explicit_bzero(view, sizeof(view));
	return plain;
}

/* Of %41 and of \x41; 0: neither. */
static size_t decode_hex(const char *p, size_t len, size_t skip, char *ret)
{
	if (len < skip + 2 || inspect_hex_of(p[skip]) < 0 || inspect_hex_of(p[skip + 1]) < 0)
		return 0;
	*ret = (char)(inspect_hex_of(p[skip]) << 4 | inspect_hex_of(p[skip + 1]));
	return skip + 2;
}

size_t inspect_view_percent(const char *p, size_t len, char *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; n++) {
		const size_t taken = p[i] == '%' ? decode_hex(p + i, len - i, 1, ret + n) : 0;

		if (!taken)
			ret[n] = p[i];
		i += taken ? taken : 1;
	}
	return n;
}

/* The escape of JSON and C at P; characters beyond ASCII are in no token. */
static size_t decode_backslash(const char *p, size_t len, char *ret)
{
	if (len < 2)
		return 0;
	switch (p[1]) {
	case 'n':
	case 'r':
	case 't':
		*ret = p[1] == 't' ? '\t' : '\n';
		return 2;
	case '0':
		*ret = '\0';
		return 2;
	case 'x':
		return decode_hex(p, len, 2, ret);
	case 'u':
		return len >= 6 && p[2] == '0' && p[3] == '0' ? decode_hex(p, len, 4, ret) : 0;
	case '/':
	case '\\':
	case '"':
	case '\'':
	case '=':
	case ':':
	case '@':
		*ret = p[1];
		return 2;
	default:
		return 0;
	}
}

/* The line at P with its escapes decoded; returns whether there is one. */
static bool decode_line(const char *p, size_t len, struct strbuf *out)
{
	bool changed = false;

	out->len = 0;
	for (size_t at = 0; at < len;) {
		const char *next = p + at;
		size_t n = 0;
		char c = '\0';

		while (next < p + len && *next != '%' && *next != '\\')
			next++;
		strbuf_add(out, p + at, (size_t)(next - p) - at);
		at = (size_t)(next - p);
		if (at == len)
			break;
		n = *next == '%' ? decode_hex(next, len - at, 1, &c) : decode_backslash(next, len - at, &c);
		changed = changed || n > 0;
		strbuf_putc(out, n > 0 ? c : *next);
		at += n > 0 ? n : 1;
	}
	return changed;
}

/* The first backslash or percent sign from AT on, of which *NEXT has the places that are known. */
static size_t next_escape(const char *p, size_t at, size_t len, size_t next[2])
{
	static const char escapes[2] = { '\\', '%' };

	for (size_t i = 0; i < 2; i++)
		if (next[i] < at || at == 0) {
			const char *hit = memchr(p + at, escapes[i], len - at);

			next[i] = hit ? (size_t)(hit - p) : len;
		}
	return next[0] < next[1] ? next[0] : next[1];
}

void inspect_view_lines(const struct inspect_scan *s, const char *p, size_t len)
{
	_cleanup_strbuf_ struct strbuf view = { 0 };
	size_t next[2] = { 0 }, at, begin, end = 0;

	if (s->depth == INSPECT_VIEWS_MAX)
		return;
	for (; (at = next_escape(p, end, len, next)) < len; end = end < len ? end + 1 : len) {
		const char *before = memrchr(p + end, '\n', at - end),
			   *after = memchr(p + at, '\n', len - at);

		begin = before ? (size_t)(before - p) + 1 : end;
		end = after ? (size_t)(after - p) : len;
		if (!decode_line(p + begin, end - begin, &view))
			continue;
		if (view.broken) {
			inspect_broken(s->found);
			return;
		}
		inspect_view(s, view.text ? view.text : "", view.len, begin);
	}
	if (view.text)
		explicit_bzero(view.text, view.room);
}
