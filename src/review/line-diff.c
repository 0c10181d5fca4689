/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/line-diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define COST_MAX 4096 /* most edits that a search for the middle of a stretch considers */

/* Lines as numbers: equal lines have equal numbers. */
struct numbers {
	uint32_t *a, *b;
	struct line_diff *diff;
	ptrdiff_t *forward, *backward; /* 2 * (COST_MAX + 2) + 1 each */
	bool broken;
};

static int split(const char *bytes, size_t len, struct line_text *t, struct fault *f)
{
	size_t n = 0, at = 0;

	for (const char *p = bytes; (p = memchr(p, '\n', (size_t)(bytes + len - p))); p++)
		n++;
	n += len > 0 && bytes[len - 1] != '\n';
	if (n > LINE_DIFF_LINES)
		return fault_set(f, EFBIG, "more than %zu lines", LINE_DIFF_LINES);
	t->starts = calloc(n + 1, sizeof(*t->starts));
	if (!t->starts)
		return fault_errno(f, ENOMEM, "diff");
	t->bytes = bytes;
	t->len = len;
	t->n = n;
	for (size_t i = 0; i < n; i++) {
		const char *end = memchr(bytes + at, '\n', len - at);

		t->starts[i] = at;
		at = end ? (size_t)(end - bytes) + 1 : len;
	}
	t->starts[n] = len;
	return 0;
}

struct line_slot {
	const char *bytes;
	size_t len;
	uint32_t number;
};

/* With a random seed, so that the author of the lines cannot provoke collisions. */
static uint64_t hash(const char *bytes, size_t len, uint64_t seed)
{
	uint64_t h = seed;

	for (size_t i = 0; i < len; i++) {
		h ^= (unsigned char)bytes[i];
		h *= UINT64_C(0x100000001b3);
		h ^= h >> 29;
	}
	return h ^ (h >> 32);
}

static void number_lines(const struct line_text *t, uint32_t *numbers, struct line_slot *table, size_t mask,
			 uint64_t seed, uint32_t *next)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *bytes = t->bytes + t->starts[i];
		size_t len = t->starts[i + 1] - t->starts[i], at = hash(bytes, len, seed) & mask;

		while (table[at].bytes && (table[at].len != len || memcmp(table[at].bytes, bytes, len) != 0))
			at = (at + 1) & mask;
		if (!table[at].bytes)
			table[at] = (struct line_slot){ .bytes = bytes, .len = len, .number = (*next)++ };
		numbers[i] = table[at].number;
	}
}

static int number_all(struct numbers *s, struct fault *f)
{
	const struct line_text *a = &s->diff->old, *b = &s->diff->new;
	_cleanup_free_ struct line_slot *table = NULL;
	uint64_t seed = 0;
	uint32_t next = 0;
	size_t size = 16;

	while (size < 2 * (a->n + b->n))
		size *= 2;
	table = calloc(size, sizeof(*table));
	s->a = calloc(a->n + 1, sizeof(*s->a));
	s->b = calloc(b->n + 1, sizeof(*s->b));
	if (!table || !s->a || !s->b)
		return fault_errno(f, ENOMEM, "diff");
	if (getrandom(&seed, sizeof(seed), 0) < 0)
		return fault_errno(f, errno, "get random bytes");
	number_lines(a, s->a, table, size - 1, seed, &next);
	number_lines(b, s->b, table, size - 1, seed, &next);
	return 0;
}

static void add_edit(struct numbers *s, size_t a, size_t a_len, size_t b, size_t b_len)
{
	struct line_diff *d = s->diff;
	struct line_edit *last = d->n_edits ? &d->edits[d->n_edits - 1] : NULL;

	d->removed += a_len;
	d->added += b_len;
	if (last && last->a + last->a_len == a && last->b + last->b_len == b) {
		last->a_len += a_len;
		last->b_len += b_len;
		return;
	}
	if (d->n_edits == d->room) {
		size_t room = d->room ? d->room * 2 : 32;
		struct line_edit *grown = reallocarray(d->edits, room, sizeof(*grown));

		if (!grown) {
			s->broken = true;
			return;
		}
		d->edits = grown;
		d->room = room;
	}
	d->edits[d->n_edits++] = (struct line_edit){ .a = a, .a_len = a_len, .b = b, .b_len = b_len };
}

/* A stretch of both texts. */
struct box {
	ptrdiff_t a0, a1, b0, b1;
};

/* One step further from both ends; 1: they have met at *X, *Y. */
static int step_forward(const struct numbers *s, const struct box *o, ptrdiff_t d, ptrdiff_t delta,
			ptrdiff_t *x_at, ptrdiff_t *y_at)
{
	ptrdiff_t *v = s->forward + COST_MAX + 2, *w = s->backward + COST_MAX + 2;
	ptrdiff_t n = o->a1 - o->a0, m = o->b1 - o->b0;

	for (ptrdiff_t k = -d; k <= d; k += 2) {
		ptrdiff_t x = k == -d || (k != d && v[k - 1] < v[k + 1]) ? v[k + 1] : v[k - 1] + 1, y = x - k;

		while (x < n && y < m && x >= 0 && y >= 0 && s->a[o->a0 + x] == s->b[o->b0 + y])
			x++, y++;
		v[k] = x;
		if ((delta & 1) && k - delta >= -(d - 1) && k - delta <= d - 1 && x + w[-(k - delta)] >= n) {
			*x_at = x;
			*y_at = y;
			return 1;
		}
	}
	return 0;
}

static int step_backward(const struct numbers *s, const struct box *o, ptrdiff_t d, ptrdiff_t delta,
			 ptrdiff_t *x_at, ptrdiff_t *y_at)
{
	ptrdiff_t *v = s->forward + COST_MAX + 2, *w = s->backward + COST_MAX + 2;
	ptrdiff_t n = o->a1 - o->a0, m = o->b1 - o->b0;

	for (ptrdiff_t k = -d; k <= d; k += 2) {
		ptrdiff_t x = k == -d || (k != d && w[k - 1] < w[k + 1]) ? w[k + 1] : w[k - 1] + 1, y = x - k;

		while (x < n && y < m && x >= 0 && y >= 0 && s->a[o->a1 - 1 - x] == s->b[o->b1 - 1 - y])
			x++, y++;
		w[k] = x;
		if (!(delta & 1) && -k + delta >= -d && -k + delta <= d && x + v[-k + delta] >= n) {
			*x_at = n - x;
			*y_at = m - y;
			return 1;
		}
	}
	return 0;
}

/* Point where an optimal path through the box crosses its middle; 0: more than COST_MAX edits. */
static int find_middle(const struct numbers *s, const struct box *o, ptrdiff_t *x, ptrdiff_t *y)
{
	ptrdiff_t *v = s->forward + COST_MAX + 2, *w = s->backward + COST_MAX + 2;
	ptrdiff_t delta = (o->a1 - o->a0) - (o->b1 - o->b0);

	v[1] = w[1] = 0;
	for (ptrdiff_t d = 0; d <= COST_MAX; d++)
		if (step_forward(s, o, d, delta, x, y) || step_backward(s, o, d, delta, x, y))
			return 1;
	return 0;
}

static void compare(struct numbers *s, struct box o)
{
	ptrdiff_t x = 0, y = 0;

	while (o.a0 < o.a1 && o.b0 < o.b1 && s->a[o.a0] == s->b[o.b0])
		o.a0++, o.b0++;
	while (o.a0 < o.a1 && o.b0 < o.b1 && s->a[o.a1 - 1] == s->b[o.b1 - 1])
		o.a1--, o.b1--;
	if (o.a0 == o.a1 && o.b0 == o.b1)
		return;
	/* A point in a corner does not divide the box. */
	if (o.a0 == o.a1 || o.b0 == o.b1 || !find_middle(s, &o, &x, &y) || x < 0 || y < 0 ||
	    (x == 0 && y == 0) || (x == o.a1 - o.a0 && y == o.b1 - o.b0)) {
		add_edit(s, (size_t)o.a0, (size_t)(o.a1 - o.a0), (size_t)o.b0, (size_t)(o.b1 - o.b0));
		return;
	}
	compare(s, (struct box){ o.a0, o.a0 + x, o.b0, o.b0 + y });
	compare(s, (struct box){ o.a0 + x, o.a1, o.b0 + y, o.b1 });
}

static void numbers_done(struct numbers *s)
{
	free(s->a);
	free(s->b);
	free(s->forward);
	free(s->backward);
}

void line_diff_done(struct line_diff *d)
{
	free(d->old.starts);
	free(d->new.starts);
	free(d->edits);
	*d = (struct line_diff){ 0 };
}

int line_diff(const char *old, size_t old_len, const char *new, size_t new_len, struct line_diff *ret,
	      struct fault *f)
{
	_cleanup_line_diff_ struct line_diff d = { 0 };
	struct numbers s = { .diff = &d };
	int r;

	if (old_len > LINE_DIFF_BYTES || new_len > LINE_DIFF_BYTES)
		return fault_set(f, EFBIG, "more than %zu bytes", LINE_DIFF_BYTES);
	r = split(old, old_len, &d.old, f);
	if (r == 0)
		r = split(new, new_len, &d.new, f);
	if (r == 0)
		r = number_all(&s, f);
	if (r == 0) {
		s.forward = calloc(2 * (COST_MAX + 2) + 1, sizeof(*s.forward));
		s.backward = calloc(2 * (COST_MAX + 2) + 1, sizeof(*s.backward));
		if (s.forward && s.backward)
			compare(&s, (struct box){ 0, (ptrdiff_t)d.old.n, 0, (ptrdiff_t)d.new.n });
		if (!s.forward || !s.backward || s.broken)
			r = fault_errno(f, ENOMEM, "diff");
	}
	numbers_done(&s);
	if (r < 0)
		return r;
	*ret = d;
	d = (struct line_diff){ 0 };
	return 0;
}
