/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect-impl.h"

/* Texts in UTF-16 and UTF-32 of both byte orders, and bytes that are spelled as hexadecimal digits: each becomes a view. */
#define TEXT_MIN 16   /* characters or bytes that may be a secret */
#define BETWEEN_MAX 4 /* bytes of punctuation between two pairs of digits */

int inspect_hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void look_at(const struct inspect_scan *s, struct strbuf *view, size_t at)
{
	if (view->broken)
		inspect_broken(s->found);
	else if (view->len >= TEXT_MIN)
		inspect_view(s, view->text, view->len, at);
	view->len = 0;
}

static void forget(struct strbuf *view)
{
	if (view->text)
		explicit_bzero(view->text, view->room);
}

static bool is_text(char c)
{
	return (c >= ' ' && c <= '~') || (c >= '\t' && c <= '\r');
}

/* NULs from AT on, at most 3. */
static size_t nuls(const char *p, size_t at, size_t len)
{
	size_t n = 0;

	while (n < 3 && at + n < len && !p[at + n])
		n++;
	return n;
}

void inspect_wide(const struct inspect_scan *s, const char *p, size_t len)
{
	_cleanup_strbuf_ struct strbuf view = { 0 };
	size_t at = 0, begin, n;

	if (s->depth == INSPECT_VIEWS_MAX || !memchr(p, '\0', len))
		return;
	while (at < len) {
		begin = at++;
		n = is_text(p[begin]) ? nuls(p, at, len) : 0;
		if (n != 1 && n != 3)
			continue;
		strbuf_putc(&view, p[begin]);
		/* Of the other byte order, the last character has no NUL behind it. */
		for (; at + n < len && nuls(p, at, len) == n && is_text(p[at + n]); at += n + 1)
			strbuf_putc(&view, p[at + n]);
		look_at(s, &view, begin);
	}
	forget(&view);
}

static bool is_prefix(const char *p, size_t at, size_t len)
{
	return at + 1 < len && p[at] == '0' && (p[at + 1] | 32) == 'x';
}

/* Two digits, of which a word with other letters has none. */
static bool is_pair(const char *p, size_t at, size_t len)
{
	return at + 1 < len && inspect_hex_of(p[at]) >= 0 && inspect_hex_of(p[at + 1]) >= 0 &&
	       (at + 2 == len || !inspect_is(p[at + 2], INSPECT_ALNUM) || inspect_hex_of(p[at + 2]) >= 0);
}

/* Behind the punctuation at AT. */
static size_t next_pair(const char *p, size_t at, size_t len)
{
	const size_t max = at + BETWEEN_MAX;

	while (at < len && at < max && (inspect_is(p[at], INSPECT_BLANK) || (p[at] && strchr(":,;-", p[at]))))
		at++;
	return is_prefix(p, at, len) ? at + 2 : at;
}

void inspect_hex(const struct inspect_scan *s, const char *p, size_t len)
{
	_cleanup_strbuf_ struct strbuf view = { 0 };
	size_t at = 0;

	if (s->depth == INSPECT_VIEWS_MAX)
		return;
	while (at < len) {
		const size_t begin = at;

		if (at > 0 && inspect_is(p[at - 1], INSPECT_ALNUM)) {
			at++;
			continue;
		}
		for (at = next_pair(p, at, len); is_pair(p, at, len); at = next_pair(p, at + 2, len))
			strbuf_putc(&view, (char)(inspect_hex_of(p[at]) << 4 | inspect_hex_of(p[at + 1])));
		look_at(s, &view, begin);
		at = at > begin ? at : begin + 1;
	}
	forget(&view);
}
