/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "review/apply-impl.h"

int apply_batch_init(struct apply *a, struct fault *f)
{
	struct statfs fs;

	if (fstatfs(a->ask->base, &fs) < 0)
		return fault_errno(f, errno, "statfs the worktree");
	/* syncfs sends the pages to the server of the file system, and does not ask it to write them to its disk. */
	a->sync_each = fs.f_type == FUSE_SUPER_MAGIC;
	a->batch_max = a->ask->batch ? a->ask->batch : APPLY_BATCH_MAX;
	a->pending = calloc(a->batch_max, sizeof(*a->pending));
	return a->pending ? 0 : fault_errno(f, ENOMEM, "apply");
}

int apply_batch_add(struct apply *a, size_t first, int dir, struct fault *f)
{
	const struct change *ch = &a->changes->items[first];
	_cleanup_close_ int fd = dir;
	struct apply_place p;
	struct stat st;
	/* Creating it may have used a->base for another path. */
	int r = apply_open_place(a, ch, &p, f);

	if (r < 0)
		return r;
	if ((fd < 0 ? fstatat(p.dirfd, p.temp, &st, AT_SYMLINK_NOFOLLOW) : fstat(fd, &st)) < 0)
		return fault_errno(f, errno, "stat '%s'", p.temp);
	a->pending[a->n_pending++] = (struct apply_pending){ .first = first, .n = 1, .ino = st.st_ino };
	a->batch_entries++;
	if (fd < 0)
		return 0;
	/* By the descriptor: another directory may have the name by now. */
	r = tree_at_init(&a->new, fd, f);
	if (r < 0)
		return r;
	a->top_fd = TAKE_FD(fd);
	a->top = ch;
	return 0;
}

void apply_batch_add_ahead(struct apply *a, size_t first)
{
	a->pending[a->n_pending++] = (struct apply_pending){ .first = first, .n = 1, .ino = a->ahead[first] };
	a->batch_entries++;
	a->ahead[first] = 0;
}

void apply_batch_leave(struct apply *a, size_t i)
{
	if (!a->top)
		return;
	a->pending[a->n_pending - 1].n = i - a->pending[a->n_pending - 1].first;
	tree_at_done(&a->new);
	a->new = TREE_AT_NONE;
	a->top_fd = fd_close(a->top_fd);
	a->top = NULL;
}

bool apply_batch_is_full(const struct apply *a)
{
	return !a->top && (a->batch_entries >= a->batch_max || a->batch_bytes >= APPLY_BATCH_BYTES);
}

static int move_into_place(struct apply *a, struct apply_pending *x, struct fault *f)
{
	const struct change *ch = &a->changes->items[x->first];
	struct apply_place p;
	struct stat st;
	int r = apply_open_place(a, ch, &p, f);

	if (r < 0)
		return r;
	if (fstatat(p.dirfd, p.temp, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "stat '%s'", p.temp);
	if (st.st_ino != x->ino)
		return fault_set(f, ESTALE, "'%s' was changed concurrently", p.temp);
	return apply_swap(a, ch, &p, &st, &x->swapped, f);
}

static void count(struct apply *a, const struct apply_pending *x)
{
	for (size_t i = x->first; i < x->first + x->n; i++) {
		const struct change *ch = &a->changes->items[i];

		/* Removed entries may be between this directory and the next one; delete_all counts them. */
		if (!apply_is_wanted(ch) || ch->kind == CHANGE_DELETED)
			continue;
		a->stats.written++;
		if (a->ask->applied)
			a->ask->applied(a->ask->arg, ch);
	}
}

int apply_batch_flush(struct apply *a, struct fault *f)
{
	const size_t n = a->n_pending - (a->top ? 1 : 0);
	size_t done = 0;
	int r = 0, e;

	if (!n)
		return 0;
	if (!a->sync_each && syncfs(a->ask->base) < 0)
		return fault_errno(f, errno, "sync the worktree");
	/* Resolve from the root: a directory that was moved away since is not used. */
	tree_at_forget(&a->base);
	for (; done < n && r == 0; done++) {
		struct apply_pending *x = &a->pending[done];

		r = fault_wrap(f, move_into_place(a, x, f), "'%s'", a->changes->items[x->first].path);
		if (r == 0)
			count(a, x);
	}
	/* All exchanges first: removing is slow, and the tree has both kinds of files for a shorter time. */
	e = apply_clear_swapped(a, done, r < 0 ? NULL : f);
	if (r == 0)
		r = e;
	memmove(a->pending, a->pending + done, (a->n_pending - done) * sizeof(*a->pending));
	a->n_pending -= done;
	a->batch_entries = a->n_pending;
	a->batch_bytes = 0;
	return r;
}

/* The rest is under temporary names only. */
void apply_batch_done(struct apply *a)
{
	struct apply_place p;

	if (a->pending)
		apply_batch_leave(a, a->changes->n);
	for (size_t i = 0; i < a->n_pending; i++)
		if (apply_open_place(a, &a->changes->items[a->pending[i].first], &p, NULL) == 0)
			(void)!apply_clear(a, p.dirfd, p.temp, NULL);
	apply_drop_ahead(a);
	free(a->pending);
	a->pending = NULL;
	a->n_pending = 0;
}
