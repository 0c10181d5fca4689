/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"
#include "base/seam.h"
#include "base/walk.h"
#include "core/capture-entry.h"
#include "core/capture-pool.h"

/* Deeper than this files go to odd/: nobody browses there, and each level of the target costs a descriptor. */
#define MIRROR_DEPTH 64
/* Files with several names that are remembered; more are kept once per name. */
#define TWINS_MAX 65536

struct twin {
	uint64_t ino, id;
	uint32_t major, minor;
};

struct capture {
	const struct capture_options *o;
	struct capture_pool *pool;
	struct capture_dir *dirs[MIRROR_DEPTH + 1];
	unsigned int n_dirs;
	struct capture_dir *odd; /* stands for every directory that has no place in the mirror */
	struct twin *twins;
	uint64_t next_id;
	uint64_t entries;
};

static void capture_done(struct capture *c)
{
	for (; c->n_dirs > 0; c->n_dirs--)
		capture_dir_drop(c->dirs[c->n_dirs - 1]);
	if (c->odd)
		capture_dir_drop(c->odd);
	capture_pool_free(c->pool);
	free(c->twins);
}
#define _cleanup_capture_ _cleanup_(capture_done)

static struct capture_dir *dir_of(const struct capture *c, const struct walk_entry *w)
{
	/* DEPTH counts the directories above; what is deeper than the mirror lies in none of them. */
	if (w->depth == 0 || w->depth > c->n_dirs || !c->dirs[w->depth - 1])
		return c->odd;
	return c->dirs[w->depth - 1];
}

static char *target_name(const struct capture *c, const char *name)
{
	return c->o->any_names ? strdup(name) : capture_encode_name(name);
}

/* --- directories ------------------------------------------------------------------------------------------------- */

/* In an archive a directory is a name only. */
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
		return NULL; /* taken, too long, impossible: its files go to odd/ */
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
	return capture_pool_tell(c->pool, &e, f);
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

/* The id of a file with several names: a new one in e->id the first time, else in e->same. */
static void name_twin(struct capture *c, const struct statx *stx, struct manifest_entry *e)
{
	uint64_t at = (stx->stx_ino * UINT64_C(0x9e3779b97f4a7c15)) >> 48;

	if (stx->stx_nlink < 2 || !c->twins)
		return;
	for (unsigned int i = 0; i < 64; i++) {
		struct twin *t = c->twins + (at + i) % TWINS_MAX;

		if (t->id && t->ino == stx->stx_ino && t->major == stx->stx_dev_major &&
		    t->minor == stx->stx_dev_minor) {
			e->same = t->id;
			return;
		}
		if (t->id)
			continue;
		*t = (struct twin){ .ino = stx->stx_ino,
				    .id = ++c->next_id,
				    .major = stx->stx_dev_major,
				    .minor = stx->stx_dev_minor };
		e->id = t->id;
		return;
	}
}

static int open_file(const struct walk_entry *w, struct statx *ret)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	_cleanup_close_ int fd = openat(w->dirfd, w->name, flags | O_NOATIME);

	if (fd < 0 && errno == EPERM)
		fd = openat(w->dirfd, w->name, flags);
	if (fd < 0)
		return -errno;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, ret) < 0)
		return -errno;
	/* It was a file a moment ago; what it is now counts. */
	if (!S_ISREG(ret->stx_mode))
		return -ESTALE;
	return ret->stx_mnt_id != w->stx.stx_mnt_id ? -EXDEV : TAKE_FD(fd);
}

/* How much of it may be kept, and how much of that is data; 0 with WHY when nothing. */
static uint64_t allowance(struct capture *c, const struct statx *stx, uint64_t *ret_data, const char **why)
{
	uint64_t size = stx->stx_size, data = stx->stx_blocks * 512, room;

	*why = NULL;
	if (c->o->deadline_ns && clock_boot_ns() > c->o->deadline_ns)
		*why = "limit: time is up";
	else if (!capture_pool_has_room(c->pool))
		*why = "limit: enough data was kept";
	if (*why)
		return 0;
	if (c->o->max_file && size > c->o->max_file && data > c->o->max_file)
		size = c->o->max_file;
	if (data > size)
		data = size;
	room = capture_pool_claim(c->pool, data);
	if (room < data)
		size = data = room;
	*ret_data = data;
	return size;
}

static int blame_and_tell(struct capture *c, struct manifest_entry *e, int error, const char *why,
			  struct fault *f)
{
	int r = capture_blame(e, error, why, f);

	return r < 0 ? r : capture_pool_tell(c->pool, e, f);
}

/* The walker has not looked at it (WALK_UNSEEN_FILES), so this is the first time. */
static int tell_unopened(struct capture *c, const struct walk_entry *w, struct manifest_entry *e, int error,
			 struct fault *f)
{
	const char *why = error == ESTALE  ? "became something else"
			  : error == EXDEV ? "is on another mount"
					   : "cannot be opened";
	struct walk_entry now = *w;
	int r = 0;

	if (statx(w->dirfd, w->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &now.stx) ==
		    0 &&
	    S_ISREG(now.stx.stx_mode)) {
		manifest_entry_done(e);
		r = capture_describe(&now, c->o, e, f);
	}
	return r < 0 ? r : blame_and_tell(c, e, error, why, f);
}

static int take_file(struct capture *c, const struct walk_entry *w, struct manifest_entry *e, struct fault *f)
{
	_cleanup_close_ int in = -EBADF;
	_cleanup_free_ struct statx *seen = calloc(1, sizeof(*seen));
	struct capture_job job = { 0 };
	struct walk_entry now = *w;
	const char *why;
	uint64_t size, data = 0;
	int r;

	if (!seen)
		return fault_errno(f, ENOMEM, "capture");
	in = open_file(w, seen);
	if (in < 0)
		return tell_unopened(c, w, e, -in, f);
	now.stx = *seen;
	manifest_entry_done(e);
	r = capture_describe(&now, c->o, e, f);
	if (r < 0)
		return r;
	name_twin(c, seen, e);
	if (e->same)
		return capture_pool_tell(c->pool, e, f);
	size = allowance(c, seen, &data, &why);
	if (why)
		return blame_and_tell(c, e, 0, why, f);
	job = (struct capture_job){ .entry = *e,
				    .in = TAKE_FD(in),
				    .dir = dir_of(c, w),
				    .name = target_name(c, w->name),
				    .size = size,
				    .data = data,
				    .seen = TAKE_PTR(seen) };
	*e = (struct manifest_entry){ 0 };
	if (!job.name) {
		fd_close(job.in);
		free(job.seen);
		manifest_entry_done(&job.entry);
		return fault_errno(f, ENOMEM, "capture");
	}
	return capture_pool_put(c->pool, &job, f);
}

/* --- everything else ---------------------------------------------------------------------------------------------- */

/* Links, pipes, sockets and devices are told of only: a link in the mirror would show something else as captured. */
static int visit(struct capture *c, const struct walk_entry *w, struct fault *f)
{
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	int r;

	r = capture_describe(w, c->o, &e, f);
	if (r < 0)
		return r;
	if (e.type == MANIFEST_FILE)
		return take_file(c, w, &e, f);
	r = capture_xattrs_at(w->dirfd, w->name, &e, f);
	return r < 0 ? r : capture_pool_tell(c->pool, &e, f);
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

	c->twins = calloc(TWINS_MAX, sizeof(*c->twins));
	c->odd = capture_dir_new(-EBADF, CAPTURE_ODD);
	if (!c->twins || !c->odd)
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

/* What a stranger could make us do for ever, or until the disk is full. */
static const char *over_limit(const struct capture *c)
{
	const struct capture_options *o = c->o;

	if (o->max_entries && c->entries > o->max_entries)
		return "limit: enough entries were kept";
	if (o->max_manifest && capture_pool_told(c->pool) > o->max_manifest)
		return "limit: the names alone are too long";
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
	if (r == 0)
		r = capture_pool_finish(c.pool, ret, f);
	ret->cut_short = cut;
	return r;
}
