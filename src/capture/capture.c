/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/seam.h"
#include "base/walk.h"
#include "capture/capture-entry.h"
#include "capture/capture-pool.h"

/* Files below this depth go to odd/: each level of the target costs a descriptor. */
#define MIRROR_DEPTH 64
/*
 * Up to this depth the batch of a directory stays open while its subdirectories are walked; below, it is queued first.
 */
#define GATHER_DEPTH 32
struct capture {
	const struct capture_options *o;
	struct capture_pool *pool;
	struct capture_dir *dirs[MIRROR_DEPTH + 1];
	unsigned int n_dirs;
	struct capture_dir *odd; /* for every directory that the mirror does not contain */
	struct capture_batch
		gathered[GATHER_DEPTH]; /* files of the directory at this depth; [0]: of deeper ones */
	uint64_t entries;
};

static void capture_done(struct capture *c)
{
	for (; c->n_dirs > 0; c->n_dirs--)
		capture_dir_drop(c->dirs[c->n_dirs - 1]);
	if (c->odd)
		capture_dir_drop(c->odd);
	for (size_t i = 0; i < GATHER_DEPTH; i++)
		capture_batch_done(c->gathered + i);
	capture_pool_free(c->pool);
}
#define _cleanup_capture_ _cleanup_(capture_done)

static struct capture_dir *dir_of(const struct capture *c, const struct walk_entry *w)
{
	/* DEPTH: number of parent directories; files deeper than the mirror have no directory in it. */
	if (w->depth == 0 || w->depth > c->n_dirs || !c->dirs[w->depth - 1])
		return c->odd;
	return c->dirs[w->depth - 1];
}

static char *target_name(const struct capture *c, const char *name)
{
	return c->o->any_names ? strdup(name) : capture_encode_name(name);
}

/* --- directories ------------------------------------------------------------------------------------------------- */

/* In an archive a directory is only a part of names. */
static struct capture_dir *name_dir(const struct capture_dir *parent, const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (str_eq(parent->path, CAPTURE_ODD) || asprintf(&path, "%s/%s", parent->path, name) < 0)
		path = NULL;
	return path ? capture_dir_new(-EBADF, path) : NULL;
}

static struct capture_dir *make_dir(const struct capture_dir *parent, const char *name)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (parent->fd < 0 || mkdirat(parent->fd, name, 0700) < 0)
		return NULL; /* exists, is too long or invalid: its files go to odd/ */
	fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (asprintf(&path, "%s/%s", parent->path, name) < 0) {
		path = NULL;
		fd_close(fd);
		return NULL;
	}
	return capture_dir_new(fd, path);
}

static int enter(struct capture *c, const struct walk_entry *w, struct fault *f)
{
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	_cleanup_free_ char *name = NULL;
	int r;

	r = capture_describe(w, c->o, &e, f);
	if (r == 0)
		r = capture_xattrs(w->fd, &e, f);
	if (r < 0)
		return r;
	if (w->depth > 0 && w->depth <= MIRROR_DEPTH) {
		name = target_name(c, w->name);
		if (!name)
			return fault_errno(f, ENOMEM, "capture");
		c->dirs[w->depth] = c->o->pack ? name_dir(dir_of(c, w), name) : make_dir(dir_of(c, w), name);
		c->n_dirs = w->depth + 1;
	}
	if (w->depth < c->n_dirs && c->dirs[w->depth] && !c->o->pack) {
		e.at = strdup(c->dirs[w->depth]->path);
		if (!e.at)
			return fault_errno(f, ENOMEM, "capture");
	}
	return capture_pool_add_entry(c->pool, &e, f);
}

static void leave(struct capture *c, const struct walk_entry *w)
{
	if (w->depth == 0 || w->depth >= c->n_dirs)
		return;
	if (c->dirs[w->depth])
		capture_dir_drop(c->dirs[w->depth]);
	c->dirs[w->depth] = NULL;
	c->n_dirs = w->depth;
}

/* --- files ------------------------------------------------------------------------------------------------------- */

static struct capture_batch *batch_of(struct capture *c, unsigned int depth)
{
	return c->gathered + (depth < GATHER_DEPTH ? depth : 0);
}

static int gather(struct capture *c, const struct walk_entry *w, struct fault *f)
{
	struct capture_batch *b = batch_of(c, w->depth);
	int r = capture_batch_add(b, dir_of(c, w), w, f);

	return r == 0 && capture_pool_is_full_batch(c->pool, b) ? capture_pool_put(c->pool, b, f) : r;
}

/* Before W is entered or left: these batches are complete. */
static int hand_over(struct capture *c, int event, const struct walk_entry *w, struct fault *f)
{
	int r = 0;

	if (event != WALK_ENTER && event != WALK_LEAVE)
		return 0;
	r = capture_pool_put(c->pool, c->gathered, f);
	if (r == 0 && event == WALK_LEAVE)
		r = capture_pool_put(c->pool, batch_of(c, w->depth + 1), f);
	return r;
}

static int blame_and_tell(struct capture *c, struct manifest_entry *e, int error, const char *why,
			  struct fault *f)
{
	int r = capture_set_why(e, error, why, f);

	return r < 0 ? r : capture_pool_add_entry(c->pool, e, f);
}

/* --- everything else ---------------------------------------------------------------------------------------------- */

/* Links, pipes, sockets and devices are only listed: a link in the mirror would show a file that was not captured. */
static int visit(struct capture *c, const struct walk_entry *w, struct fault *f)
{
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	int r;

	if (S_ISREG(w->stx.stx_mode))
		return gather(c, w, f);
	r = capture_describe(w, c->o, &e, f);
	if (r == 0)
		r = capture_xattrs_at(w->dirfd, w->name, &e, f);
	return r < 0 ? r : capture_pool_add_entry(c->pool, &e, f);
}

static int complain(struct capture *c, const struct walk_entry *w, struct fault *f)
{
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	int r = capture_describe(w, c->o, &e, f);

	return r < 0 ? r : blame_and_tell(c, &e, w->error, w->why, f);
}

static int step(struct capture *c, struct walk *walk, int event, const struct walk_entry *w, struct fault *f)
{
	bool skip = w->path_len > 0 && strv_has(c->o->skip, w->path);
	int r = hand_over(c, event, w, f);

	if (r < 0)
		return r;
	if (skip && event == WALK_ENTER)
		walk_skip(walk);
	if (skip && event == WALK_ENTRY)
		return 0;
	switch (event) {
	case WALK_ENTER:
		return enter(c, w, f);
	case WALK_LEAVE:
		leave(c, w);
		return 0;
	case WALK_ERROR:
		return complain(c, w, f);
	default:
		return visit(c, w, f);
	}
}

static int begin(struct capture *c, int outfd, struct fault *f)
{
	int fd;

	c->odd = capture_dir_new(-EBADF, CAPTURE_ODD);
	if (!c->odd)
		return fault_errno(f, ENOMEM, "capture");
	if (c->o->pack) {
		c->dirs[0] = capture_dir_new(-EBADF, CAPTURE_WORKTREE);
		c->n_dirs = 1;
		return c->dirs[0] ? 0 : fault_errno(f, ENOMEM, "capture");
	}
	if (mkdirat(outfd, CAPTURE_WORKTREE, 0700) < 0)
		return fault_errno(f, errno, "make " CAPTURE_WORKTREE);
	fd = openat(outfd, CAPTURE_WORKTREE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open " CAPTURE_WORKTREE);
	c->dirs[0] = capture_dir_new(fd, CAPTURE_WORKTREE);
	c->n_dirs = 1;
	return c->dirs[0] ? 0 : fault_errno(f, ENOMEM, "capture");
}

/* Limits on names: the payload could create entries until the disk is full. */
static const char *over_limit(const struct capture *c)
{
	const struct capture_options *o = c->o;

	if (o->max_entries && c->entries > o->max_entries)
		return "limit: entry limit reached";
	if (o->max_manifest && capture_pool_manifest_size(c->pool) > o->max_manifest)
		return "limit: manifest size limit reached";
	return NULL;
}

int capture_tree(int treefd, int outfd, const struct capture_options *o, struct capture_stats *ret,
		 struct fault *f)
{
	_cleanup_capture_ struct capture c = { .o = o };
	_cleanup_walk_ struct walk *walk = NULL;
	const char *cut = NULL;
	struct walk_entry w;
	int r, event;

	r = capture_pool_new(outfd, o, &c.pool, f);
	if (r == 0)
		r = begin(&c, outfd, f);
	if (r == 0)
		r = walk_new(treefd, WALK_UNSEEN_FILES, &walk, f);
	while (r == 0 && !cut && (event = walk_next(walk, &w, f)) != WALK_END) {
		seam("entry-met");
		c.entries += event > 0 && event != WALK_LEAVE;
		cut = over_limit(&c);
		if (!cut)
			r = event < 0 ? event : step(&c, walk, event, &w, f);
	}
	/* If the walk ended early, some batches are not queued yet. */
	for (size_t i = 0; r == 0 && i < GATHER_DEPTH; i++)
		r = capture_pool_put(c.pool, c.gathered + i, f);
	if (r == 0)
		r = capture_pool_finish(c.pool, ret, f);
	ret->cut_short = cut;
	return r;
}
