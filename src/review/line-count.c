/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers of changed lines without the lines. */
#include <errno.h>
#include <string.h>

#include "review/line-diff.h"

/* Length of the whole lines that both texts begin with. */
static size_t common_start(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t max = a_len < b_len ? a_len : b_len, n = 0, line;

	/* In steps: memcmp compares many bytes at once. */
	for (size_t step = 256; step; step = step == 256 ? 1 : 0)
		while (max - n >= step && memcmp(a + n, b + n, step) == 0)
			n += step;
	if (n == a_len && n == b_len)
		return n;
	for (line = n; line > 0 && a[line - 1] != '\n'; line--)
		;
	return line;
}

/* Length of the whole lines that both texts end with. */
static size_t common_end(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t max = a_len < b_len ? a_len : b_len, n = 0;
	const char *feed;

	for (size_t step = 256; step; step = step == 256 ? 1 : 0)
		while (max - n >= step && memcmp(a + a_len - n - step, b + b_len - n - step, step) == 0)
			n += step;
	/* One text is the end of the other: its first line is whole if a line of the other ends before it. */
	if (n == max && (n == a_len || a[a_len - n - 1] == '\n') && (n == b_len || b[b_len - n - 1] == '\n'))
		return n;
	/* The first line of it may be the end of two different lines. */
	feed = n ? memchr(a + a_len - n, '\n', n) : NULL;
	return feed ? (size_t)(a + a_len - feed - 1) : 0;
}

static size_t count_lines(const char *text, size_t len)
{
	size_t n = len > 0 && text[len - 1] != '\n';

	for (const char *p = text, *end = text + len; p < end && (p = memchr(p, '\n', (size_t)(end - p)));
	     p++)
		n++;
	return n;
}

/* A short text has no more lines than bytes. */
static bool has_too_many(const char *text, size_t len)
{
	return len > LINE_DIFF_LINES && count_lines(text, len) > LINE_DIFF_LINES;
}

int line_diff_count(const char *old, size_t old_len, const char *new, size_t new_len, size_t *ret_removed,
		    size_t *ret_added, struct fault *f)
{
	_cleanup_line_diff_ struct line_diff d = { 0 };
	size_t start, end, removed, added;
	int r;

	if (has_too_many(old, old_len) || has_too_many(new, new_len))
		return fault_set(f, EFBIG, "more than %zu lines", LINE_DIFF_LINES);
	start = common_start(old, old_len, new, new_len);
	end = common_end(old + start, old_len - start, new + start, new_len - start);
	old += start;
	new += start;
	old_len -= start + end;
	new_len -= start + end;
	removed = count_lines(old, old_len);
	added = count_lines(new, new_len);
	/* One line against another: they differ, else they were a part of the start. */
	if (!removed || !added || (removed == 1 && added == 1)) {
		*ret_removed = removed;
		*ret_added = added;
		return 0;
	}
	r = line_diff(old, old_len, new, new_len, &d, f);
	if (r < 0)
		return r;
	*ret_removed = d.removed;
	*ret_added = d.added;
	return 0;
}
