/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json-text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void jdoc_place_move(const struct jdoc_text *t, struct jdoc_place *p, size_t offset)
{
	for (; p->offset < offset; p->offset++) {
		unsigned char c = (unsigned char)t->bytes[p->offset];

		if (c == '\n') {
			p->line++;
			p->column = 1;
		} else if ((c & 0xc0) != 0x80) {
			p->column++;
		}
	}
}

/* Offset after the comment that starts at FROM; FROM itself if it is unclosed or not a comment. */
static size_t comment_end(const struct jdoc_text *t, size_t from)
{
	const char *start = t->bytes + from, *end;
	size_t left = t->len - from;

	if (!t->comments || left < 2 || start[0] != '/')
		return from;
	if (start[1] == '/') {
		end = memchr(start, '\n', left);
		return end ? (size_t)(end + 1 - t->bytes) : t->len;
	}
	if (start[1] != '*')
		return from;
	end = memmem(start + 2, left - 2, "*/", 2);
	return end ? (size_t)(end + 2 - t->bytes) : from;
}

/* Fast path for blanks. */
static void skip_blanks(const struct jdoc_text *t, struct jdoc_place *p)
{
	for (; p->offset < t->len; p->offset++) {
		char c = t->bytes[p->offset];

		if (c == '\n') {
			p->line++;
			p->column = 1;
		} else if (c == ' ' || c == '\t' || c == '\r') {
			p->column++;
		} else {
			return;
		}
	}
}

void jdoc_place_skip(const struct jdoc_text *t, struct jdoc_place *p)
{
	for (;;) {
		size_t next;

		skip_blanks(t, p);
		next = p->offset < t->len ? comment_end(t, p->offset) : p->offset;
		if (next == p->offset)
			return;
		jdoc_place_move(t, p, next);
	}
}

int jdoc_refuse(const struct jdoc_text *t, const struct jdoc_place *p, struct fault *f, const char *fmt, ...)
{
	_cleanup_free_ char *what = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&what, fmt, ap);
	va_end(ap);
	if (n < 0)
		return fault_errno(f, ENOMEM, "%s:%u:%u", t->label, p->line, p->column);
	return fault_set(f, EINVAL, "%s:%u:%u: %s", t->label, p->line, p->column, what);
}

/* Four hex digits at S, or -1.  END bounds the text. */
static int hex4(const char *s, const char *end)
{
	int value = 0;

	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *d = s[i] ? strchr(digits, s[i]) : NULL;

		if (!d)
			return -1;
		value = value * 16 + (int)((d - digits) % 16);
	}
	return value;
}

static int refuse_at(const struct jdoc_text *t, const struct jdoc_place *start, const char *s,
		     struct fault *f, const char *what)
{
	struct jdoc_place p = *start;

	jdoc_place_move(t, &p, (size_t)(s - t->bytes));
	return jdoc_refuse(t, &p, f, "%s", what);
}

int jdoc_check_escapes(const struct jdoc_text *t, const struct jdoc_place *start, size_t end_offset,
		       struct fault *f)
{
	const char *end = t->bytes + end_offset;

	for (const char *s = t->bytes + start->offset; s < end; s++) {
		int unit, low;

		s = memchr(s, '\\', (size_t)(end - s));
		if (!s)
			break;
		/* Skip the escaped character, so that a backslash there does not start another escape. */
		if (++s == end || *s != 'u')
			continue;
		unit = hex4(s + 1, end);
		if (unit == 0)
			return refuse_at(t, start, s - 1, f, "\\u0000: a string cannot contain NUL");
		if ((unit & 0xf800) != 0xd800)
			continue;
		low = end - s > 7 && s[5] == '\\' && s[6] == 'u' ? hex4(s + 7, end) : -1;
		if ((unit & 0xfc00) != 0xd800 || (low & 0xfc00) != 0xdc00)
			return refuse_at(
				t, start, s - 1, f,
				"half of a surrogate pair: write the character itself or both halves");
		s += 6;
	}
	return 0;
}
