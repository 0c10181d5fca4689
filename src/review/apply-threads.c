/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps of an apply of many files whose parts do not depend on each other, with several threads: the new files are created
 * under their temporary names before anything is exchanged, those of a new directory under its temporary name, and the old files
 * of a batch are removed after all exchanges.  All are optional: a file that a thread could not create or remove is left to the
 * thread that does the rest, which reports it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "review/apply-impl.h"

#define THREADS_MAX 4
#define PIECE 64      /* neighbours share their directory */
#define FILES_MIN 512 /* fewer are not worth a thread */

struct work {
	struct apply *a;
	size_t *list; /* indexes of the changes, N; NULL: 0 to N */
	size_t n;
	void (*one)(struct work *w, struct apply *own, size_t i);
	atomic_size_t next;
	atomic_bool full; /* the disk */
	_Atomic uint64_t entries, bytes;
};

/* With descriptors and a buffer of its own. */
static void *work_on(void *arg)
{
	struct work *w = arg;
	struct apply own = { .changes = w->a->changes,
			     .ask = w->a->ask,
			     .base = TREE_AT_NONE,
			     .upper = TREE_AT_NONE,
			     .new = TREE_AT_NONE,
			     .top = w->a->top,
			     .top_fd = -EBADF,
			     .gid = w->a->gid,
			     .sync_each = w->a->sync_each,
			     .no_clone = w->a->no_clone };
	size_t from;

	if (tree_at_init(&own.base, own.ask->base, NULL) == 0 &&
	    tree_at_init(&own.upper, own.ask->upper, NULL) == 0 &&
	    (!own.top || tree_at_init(&own.new, w->a->top_fd, NULL) == 0))
		while (!atomic_load(&w->full) && (from = atomic_fetch_add(&w->next, PIECE)) < w->n)
			for (size_t i = from; i < w->n && i < from + PIECE; i++)
				w->one(w, &own, w->list ? w->list[i] : i);
	free(own.buffer);
	tree_at_done(&own.base);
	tree_at_done(&own.upper);
	tree_at_done(&own.new);
	return NULL;
}

static void work_together(struct work *w)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[THREADS_MAX];
	size_t n = 0;

	while (n + 1 < THREADS_MAX && (long)n + 1 < cpus &&
	       pthread_create(&threads[n], NULL, work_on, w) == 0)
		n++;
	(void)work_on(w);
	while (n > 0)
		(void)pthread_join(threads[--n], NULL);
}

static bool is_many(const struct apply *a, size_t n)
{
	return n >= (a->ask->files_min ? a->ask->files_min : FILES_MIN);
}

/* A file whose content is in the upper. */
static bool is_independent(const struct change *ch)
{
	return apply_is_wanted(ch) && ch->kind != CHANGE_DELETED && ch->kind != CHANGE_SAME && !ch->data &&
	       S_ISREG(ch->new.mode) && !apply_is_in_place(ch);
}

static void create(struct work *w, struct apply *own, size_t i)
{
	const struct change *ch = &own->changes->items[i];
	struct apply_place p;
	struct stat st;
	int r;

	if (!is_independent(ch) || apply_open_place(own, ch, &p, NULL) < 0)
		return;
	r = apply_write(own, ch, &p, NULL);
	if (r == -ENOSPC || r == -EDQUOT)
		atomic_store(&w->full, true);
	if (r < 0)
		return;
	/* The content of a new directory is not exchanged: no inode is compared. */
	if (own->top)
		st.st_ino = 1;
	else if (fstatat(p.dirfd, p.temp, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	w->a->ahead[i] = st.st_ino;
	atomic_fetch_add(&w->bytes, ch->new.size);
	atomic_fetch_add(&w->entries, 1);
	if (own->ask->progress)
		own->ask->progress(own->ask->progress_arg, atomic_load(&w->entries), atomic_load(&w->bytes));
}

/* Room for old and new files at once: else the batches have to be smaller, and each frees its old files. */
static bool has_room(const struct apply *a, size_t files, uint64_t bytes)
{
	struct statvfs fs;

	return bytes < APPLY_BATCH_BYTES && fstatvfs(a->ask->base, &fs) == 0 &&
	       (uint64_t)fs.f_bavail * fs.f_frsize / 2 > bytes + files * fs.f_frsize &&
	       (!fs.f_files || fs.f_favail / 2 > files);
}

void apply_drop_ahead(struct apply *a)
{
	struct apply_place p;

	for (size_t i = 0; a->ahead && i < a->changes->n; i++)
		if (a->ahead[i] && apply_open_place(a, &a->changes->items[i], &p, NULL) == 0)
			(void)!apply_clear(a, p.dirfd, p.temp, NULL);
	free(a->ahead);
	a->ahead = NULL;
}

/* Lists the files from FROM to TO, without those in a directory that does not exist yet: they are created with it. */
static int list_files(struct apply *a, size_t from, size_t to, struct work *w, struct fault *f)
{
	const struct change *absent = NULL;

	w->list = calloc(to - from + 1, sizeof(*w->list));
	if (!a->ahead)
		a->ahead = calloc(a->changes->n, sizeof(*a->ahead));
	if (!w->list || !a->ahead)
		return fault_errno(f, ENOMEM, "apply");
	for (size_t i = from; i < to; i++) {
		const struct change *ch = &a->changes->items[i];

		if (absent && review_is_below(ch->path, absent->path))
			continue;
		absent = !a->top && S_ISDIR(ch->new.mode) && !S_ISDIR(ch->old.mode) ? ch : NULL;
		if (is_independent(ch))
			w->list[w->n++] = i;
	}
	return 0;
}

int apply_create_ahead(struct apply *a, struct fault *f)
{
	struct work w = { .a = a, .one = create };
	uint64_t bytes = 0;
	int r = a->sync_each ? 0 : list_files(a, 0, a->changes->n, &w, f);

	for (size_t i = 0; i < w.n; i++)
		bytes += a->changes->items[w.list[i]].new.size;
	if (r == 0 && is_many(a, w.n) && w.n <= a->batch_max && has_room(a, w.n, bytes)) {
		work_together(&w);
		a->told = atomic_load(&w.entries);
	}
	free(w.list);
	if (atomic_load(&w.full))
		apply_drop_ahead(a);
	return r;
}

/* Without its directories no file can be created. */
static int fill_directories(struct apply *a, size_t from, size_t to)
{
	int r = 0;

	for (size_t i = from; i < to && r == 0; i++) {
		const struct change *ch = &a->changes->items[i];
		_cleanup_close_ int dir = -EBADF;

		if (!apply_is_wanted(ch) || ch->kind == CHANGE_DELETED || !S_ISDIR(ch->new.mode))
			continue;
		r = apply_create(a, ch, &dir, NULL);
		a->ahead[i] = r == 0;
	}
	return r;
}

int apply_fill_ahead(struct apply *a, size_t first, struct fault *f)
{
	struct work w = { .a = a, .one = create, .entries = a->entries, .bytes = a->bytes };
	size_t to = first + 1;
	int r;

	while (to < a->changes->n && apply_is_in_new(a, &a->changes->items[to]))
		to++;
	if (!is_many(a, to - first) || a->sync_each)
		return 0;
	r = list_files(a, first + 1, to, &w, f);
	/* An error is met again, and reported, when the entry is created in its turn. */
	if (r == 0 && is_many(a, w.n) && fill_directories(a, first + 1, to) == 0) {
		work_together(&w);
		a->told = atomic_load(&w.entries);
	}
	free(w.list);
	return r;
}

static void clear(struct work *w, struct apply *own, size_t i)
{
	struct apply_pending *x = &w->a->pending[i];
	struct apply_place p;

	if (x->swapped && apply_open_place(own, &own->changes->items[x->first], &p, NULL) == 0 &&
	    unlinkat(p.dirfd, p.temp, 0) == 0)
		x->swapped = false;
}

int apply_clear_swapped(struct apply *a, size_t n, struct fault *f)
{
	struct work w = { .a = a, .n = n, .one = clear };
	int r = 0;

	if (is_many(a, n))
		work_together(&w);
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct apply_pending *x = &a->pending[i];
		struct apply_place p;

		if (!x->swapped)
			continue;
		r = apply_open_place(a, &a->changes->items[x->first], &p, f);
		if (r == 0)
			r = apply_clear(a, p.dirfd, p.temp, f);
		r = fault_wrap(f, r, "'%s'", a->changes->items[x->first].path);
	}
	return r;
}
