/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/rename.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/tree-at.h"

/* A file that was removed or added. */
struct file {
	struct change *change;
	struct digest digest;
	bool added, hashed;
};

struct search {
	struct tree_at base, upper;
	uint64_t left; /* bytes that may still be hashed */
};

static uint64_t size_of(const struct file *x)
{
	return x->added ? x->change->new.size : x->change->old.size;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int by_size(const void *a, const void *b)
{
	uint64_t p = size_of(a), q = size_of(b);

	return p < q ? -1 : p > q;
}

/* Equal bytes together, removed files first, then by the last name and the path. */
static int by_bytes(const void *a, const void *b)
{
	const struct file *x = a, *y = b;
	int d = x->hashed != y->hashed ? y->hashed - x->hashed : 0;

	if (d == 0)
		d = memcmp(x->digest.bytes, y->digest.bytes, sizeof(x->digest.bytes));
	if (d == 0)
		d = x->added - y->added;
	if (d == 0)
		d = strcmp(last_name(x->change->path), last_name(y->change->path));
	return d ? d : changes_compare(x->change->path, y->change->path);
}

static bool is_candidate(const struct change *ch)
{
	const struct change_side *s = ch->kind == CHANGE_ADDED ? &ch->new : &ch->old;

	return (ch->kind == CHANGE_ADDED || ch->kind == CHANGE_DELETED) && ch->picked && !ch->refused &&
	       S_ISREG(s->mode) && s->size > 0;
}

static void hash(struct search *s, struct file *x)
{
	const struct change *ch = x->change;
	uint64_t size = size_of(x);
	_cleanup_close_ int fd = -EBADF;

	if (size > s->left)
		return;
	if (x->added && !ch->data)
		fd = tree_at_open(&s->upper, ch->path);
	else
		fd = tree_at_open(&s->base, ch->data ? ch->data : ch->path);
	s->left -= size;
	x->hashed = fd >= 0 && digest_fd(fd, &x->digest, NULL) == 0;
}

static void join(struct file *old, struct file *new)
{
	old->change->pair = new->change;
	new->change->pair = old->change;
}

/* N files with the same bytes, the first N_OLD were removed; both parts are sorted by their last name. */
static void pair_equal(struct file *v, size_t n_old, size_t n)
{
	size_t a = 0, b = n_old;

	while (a < n_old && b < n) {
		int d = strcmp(last_name(v[a].change->path), last_name(v[b].change->path));

		if (d == 0)
			join(&v[a], &v[b]);
		a += d <= 0;
		b += d >= 0;
	}
	for (a = 0, b = n_old; a < n_old && b < n;) {
		if (v[a].change->pair)
			a++;
		else if (v[b].change->pair)
			b++;
		else
			join(&v[a], &v[b]);
	}
}

/* N files of the same size, removed and added ones. */
static void pair_size(struct search *s, struct file *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash(s, &v[i]);
	qsort(v, n, sizeof(*v), by_bytes);
	for (size_t from = 0, to; from < n && v[from].hashed; from = to) {
		size_t old = 0;

		for (to = from; to < n && v[to].hashed && digest_equal(&v[to].digest, &v[from].digest); to++)
			old += !v[to].added;
		pair_equal(v + from, old, to - from);
	}
}

static void pair_all(struct search *s, struct file *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	for (size_t from = 0, to; from < n; from = to) {
		size_t added = 0;

		for (to = from; to < n && size_of(&v[to]) == size_of(&v[from]); to++)
			added += v[to].added;
		if (added && added < to - from)
			pair_size(s, v + from, to - from);
	}
}

int rename_pair(struct changes *c, const struct rename_ask *ask, struct fault *f)
{
	struct search s = { .base = TREE_AT_NONE,
			    .upper = TREE_AT_NONE,
			    .left = ask->bytes_max ? ask->bytes_max : RENAME_BYTES };
	_cleanup_free_ struct file *v = calloc(c->n + 1, sizeof(*v));
	size_t n = 0;
	int r;

	if (!v)
		return fault_errno(f, ENOMEM, "renames");
	for (size_t i = 0; i < c->n; i++)
		if (is_candidate(&c->items[i]))
			v[n++] = (struct file){ .change = &c->items[i],
						.added = c->items[i].kind == CHANGE_ADDED };
	r = tree_at_init(&s.base, ask->base, f);
	if (r == 0)
		r = tree_at_init(&s.upper, ask->upper, f);
	if (r == 0 && n > 1)
		pair_all(&s, v, n);
	tree_at_done(&s.base);
	tree_at_done(&s.upper);
	return r;
}
