/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "review/line-diff.h"

static void put_lines(const struct line_text *t, size_t from, size_t to, enum line_kind kind, line_put put,
		      void *arg)
{
	for (size_t i = from; i < to; i++) {
		const char *bytes = t->bytes + t->starts[i];
		size_t len = t->starts[i + 1] - t->starts[i];
		bool ended = len > 0 && bytes[len - 1] == '\n';

		put(arg, kind, bytes, len - ended);
		if (!ended)
			put(arg, LINE_NO_END, "", 0);
	}
}

/* "3,4", "3", or "2,0": no lines after line 2. */
static int put_range(char *text, size_t size, char sign, size_t from, size_t len)
{
	if (len == 1)
		return snprintf(text, size, "%c%zu", sign, from + 1);
	return snprintf(text, size, "%c%zu,%zu", sign, len ? from + 1 : from, len);
}

/* One hunk: edits FIRST to LAST, whose context lines overlap. */
static void put_hunk(const struct line_diff *d, size_t first, size_t last, size_t context, line_put put,
		     void *arg)
{
	const struct line_edit *e = d->edits;
	size_t before = e[first].a < context ? e[first].a : context;
	size_t a0 = e[first].a - before, b0 = e[first].b - before;
	size_t a1 = e[last].a + e[last].a_len + context, b1, at = a0;
	char head[128];
	int n;

	if (before > e[first].b) {
		before = e[first].b;
		a0 = at = e[first].a - before;
		b0 = 0;
	}
	if (a1 > d->old.n)
		a1 = d->old.n;
	b1 = e[last].b + e[last].b_len + (a1 - (e[last].a + e[last].a_len));
	n = snprintf(head, sizeof(head), "@@ ");
	n += put_range(head + n, sizeof(head) - (size_t)n, '-', a0, a1 - a0);
	n += snprintf(head + n, sizeof(head) - (size_t)n, " ");
	n += put_range(head + n, sizeof(head) - (size_t)n, '+', b0, b1 - b0);
	(void)snprintf(head + n, sizeof(head) - (size_t)n, " @@");
	put(arg, LINE_HUNK, head, strlen(head));
	for (size_t i = first; i <= last; i++) {
		put_lines(&d->old, at, e[i].a, LINE_EQUAL, put, arg);
		put_lines(&d->old, e[i].a, e[i].a + e[i].a_len, LINE_REMOVED, put, arg);
		put_lines(&d->new, e[i].b, e[i].b + e[i].b_len, LINE_ADDED, put, arg);
		at = e[i].a + e[i].a_len;
	}
	put_lines(&d->old, at, a1, LINE_EQUAL, put, arg);
}

void line_diff_unified(const struct line_diff *d, size_t context, line_put put, void *arg)
{
	size_t first = 0;

	for (size_t i = 0; i < d->n_edits; i++) {
		const struct line_edit *e = d->edits + i;

		if (i + 1 < d->n_edits && e[1].a - (e->a + e->a_len) <= 2 * context)
			continue;
		put_hunk(d, first, i, context, put, arg);
		first = i + 1;
	}
}
