/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdint.h>
#include <time.h>

#include "base/str.h"
#include "review/line-diff.h"
#include "tap.h"

static void put(void *arg, enum line_kind kind, const char *bytes, size_t len)
{
	static const char marks[] = { [LINE_EQUAL] = ' ', [LINE_REMOVED] = '-', [LINE_ADDED] = '+' };
	struct strbuf *out = arg;

	if (kind == LINE_NO_END)
		strbuf_puts(out, "\\ No newline at end of file");
	else if (kind != LINE_HUNK)
		strbuf_putc(out, marks[kind]);
	strbuf_add(out, bytes, len);
	strbuf_putc(out, '\n');
}

static bool shows(const char *old, const char *new, const char *wanted)
{
	_cleanup_line_diff_ struct line_diff d = { 0 };
	_cleanup_strbuf_ struct strbuf out = { 0 };

	if (line_diff(old, strlen(old), new, strlen(new), &d, NULL) < 0)
		return false;
	line_diff_unified(&d, 3, put, &out);
	if (strcmp(out.text ? out.text : "", wanted) == 0)
		return true;
	printf("# got:\n%s\n", out.text ? out.text : "");
	return false;
}

static void small_edits_look_as_everywhere(void)
{
	CHECK(shows("", "", ""));
	CHECK(shows("a\n", "a\n", ""));
	CHECK(shows("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"));
	CHECK(shows("a\n", "", "@@ -1 +0,0 @@\n-a\n"));
	CHECK(shows("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
		    "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"));
	CHECK(shows("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"));
	CHECK(shows(
		"a\nb", "a\nc",
		"@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"));
}

static void edits_far_apart_are_two_hunks(void)
{
	CHECK(shows("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
		    "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -7,3 +8,4 @@\n 7\n 8\n 9\n+10\n"));
	CHECK(shows("1\n2\n3\n4\n5\n6\n", "0\n1\n2\n3\n4\n5\n6\n10\n",
		    "@@ -1,6 +1,8 @@\n+0\n 1\n 2\n 3\n 4\n 5\n 6\n+10\n"));
}

/* Applying the edits to the old text gives the new one, and they say no more than a table of all ways does. */
static bool rebuilds(const struct line_diff *d)
{
	size_t a = 0, b = 0;

	for (size_t i = 0; i <= d->n_edits; i++) {
		size_t to = i < d->n_edits ? d->edits[i].a : d->old.n;

		for (; a < to; a++, b++) {
			size_t n = d->old.starts[a + 1] - d->old.starts[a];

			if (b >= d->new.n || d->new.starts[b + 1] - d->new.starts[b] != n ||
			    memcmp(d->old.bytes + d->old.starts[a], d->new.bytes + d->new.starts[b], n) != 0)
				return false;
		}
		if (i == d->n_edits)
			break;
		if (d->edits[i].b != b || d->edits[i].a_len + d->edits[i].b_len == 0)
			return false;
		a += d->edits[i].a_len;
		b += d->edits[i].b_len;
	}
	return a == d->old.n && b == d->new.n;
}

static size_t shortest(const char *a, size_t n, const char *b, size_t m)
{
	static size_t t[64][64];

	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			if (i == 0 || k == 0)
				t[i][k] = i + k;
			else if (a[2 * (i - 1)] == b[2 * (k - 1)])
				t[i][k] = t[i - 1][k - 1];
			else
				t[i][k] = 1 + (t[i - 1][k] < t[i][k - 1] ? t[i - 1][k] : t[i][k - 1]);
		}
	return t[n][m];
}

/* The numbers alone are those of the diff. */
static bool counts(const struct line_diff *d, const char *a, size_t n, const char *b, size_t m)
{
	size_t removed, added;

	return line_diff_count(a, n, b, m, &removed, &added, NULL) == 0 && removed == d->removed &&
	       added == d->added;
}

static void random_texts_are_rebuilt_by_the_shortest_way(void)
{
	unsigned int seed = 7;

	for (size_t round = 0; round < 20000; round += tap_stride()) {
		_cleanup_line_diff_ struct line_diff d = { 0 };
		char a[128], b[128];
		size_t n = (size_t)rand_r(&seed) % 40, m = (size_t)rand_r(&seed) % 40;

		for (size_t i = 0; i < n; i++)
			memcpy(a + 2 * i, (char[]){ (char)('a' + rand_r(&seed) % 4), '\n' }, 2);
		for (size_t i = 0; i < m; i++)
			memcpy(b + 2 * i, (char[]){ (char)('a' + rand_r(&seed) % 4), '\n' }, 2);
		CHECK(line_diff(a, 2 * n, b, 2 * m, &d, NULL) == 0);
		CHECK(rebuilds(&d));
		CHECK(d.removed + d.added == shortest(a, n, b, m));
		CHECK(counts(&d, a, 2 * n, b, 2 * m));
	}
}

static bool counts_as(const char *old, const char *new, size_t removed, size_t added)
{
	size_t r = 99, a = 99;

	return line_diff_count(old, strlen(old), new, strlen(new), &r, &a, NULL) == 0 && r == removed &&
	       a == added;
}

static void lines_are_counted_without_the_equal_ones(void)
{
	_cleanup_strbuf_ struct strbuf a = { 0 }, b = { 0 };

	CHECK(counts_as("", "", 0, 0));
	CHECK(counts_as("a\nb\n", "a\nb\n", 0, 0));
	CHECK(counts_as("", "a\nb", 0, 2));
	CHECK(counts_as("a\nb", "a\nb\n", 1, 1));
	CHECK(counts_as("xb\n", "yb\n", 1, 1));
	CHECK(counts_as("a\nb\n", "a\nx\nb\n", 0, 1));
	CHECK(counts_as("a\na\n", "a\n", 1, 0));
	CHECK(counts_as("\n", "\n\n", 0, 1));
	for (size_t i = 0; i < 1000; i++) {
		strbuf_puts(&a, "the same line\n");
		strbuf_puts(&b, i == 500 ? "the same Line\n" : "the same line\n");
	}
	CHECK(counts_as(a.text, b.text, 1, 1));
}

static void texts_without_anything_in_common_end(void)
{
	_cleanup_strbuf_ struct strbuf a = { 0 }, b = { 0 };
	_cleanup_line_diff_ struct line_diff d = { 0 };

	for (unsigned int i = 0; i < 60000; i++) {
		strbuf_printf(&a, "%u\n", i);
		strbuf_printf(&b, "x%u\n", i);
	}
	CHECK(line_diff(a.text, a.len, b.text, b.len, &d, NULL) == 0);
	CHECK(rebuilds(&d));
	CHECK(d.removed == 60000 && d.added == 60000);
}

static void a_file_that_is_too_big_is_refused(void)
{
	_cleanup_free_ char *big = calloc(1, LINE_DIFF_BYTES + 1);
	_cleanup_line_diff_ struct line_diff d = { 0 };
	size_t n;

	CHECK(big);
	CHECK(line_diff(big, LINE_DIFF_BYTES + 1, "", 0, &d, NULL) == -EFBIG);
	memset(big, '\n', LINE_DIFF_BYTES);
	CHECK(line_diff("", 0, big, LINE_DIFF_LINES + 1, &d, NULL) == -EFBIG);
	CHECK(line_diff_count("", 0, big, LINE_DIFF_LINES + 1, &n, &n, NULL) == -EFBIG);
}

TAP_MAIN(T(small_edits_look_as_everywhere), T(edits_far_apart_are_two_hunks),
	 T(random_texts_are_rebuilt_by_the_shortest_way), T(lines_are_counted_without_the_equal_ones),
	 T(texts_without_anything_in_common_end), T(a_file_that_is_too_big_is_refused))
