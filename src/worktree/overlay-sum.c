/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/overlay-sum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/str.h"
#include "base/tree-at.h"
#include "base/walk.h"
#include "worktree/overlay-copy.h"
#include "worktree/overlay-xattr.h"

/*
 * Two passes.  The first links all of LOWER into OUT.  The second places UPPER over it, entry by entry, as overlayfs
 * looks names up: an entry of UPPER hides the one below it, two directories are merged unless the upper one is opaque.
 *
 * A directory that replaces a file or a whiteout of LOWER is opaque in the sum: that entry hid the worktree's.
 *
 * A whiteout that hides nothing of the worktree is left out, as of an entry that LOWER made and UPPER removed: overlayfs
 * filters whiteouts only from the lists of merged directories, and in another one it would list a name that does not exist.
 */
#define MARKS "user.overlay."
#define OPAQUE MARKS "opaque"
#define ORIGIN MARKS "origin"

struct sum {
	struct tree_at out, tree;
	void *copies; /* overlay_copy_entry */
	bool has_tree;
	bool above;	   /* the second pass */
	bool moment;	   /* and its upper changes while it is read */
	unsigned int pure; /* 1 + depth of the opaque directory of the sum that the walk is in; 0: in none */
};

static int require_known(const struct overlay_xattr *m, const char *path, struct fault *f)
{
	if (!m->redirect && !m->whiteouts)
		return 0;
	return fault_set(f, ENOTSUP, "'%s' in the upper has marks of overlayfs that cannot be added up",
			 path);
}

/* The directory PATH of the sum, for its attributes. */
static int open_out(struct sum *s, const char *path, struct fault *f)
{
	int at, fd, r = tree_at_dir(&s->out, path, &at);

	if (r < 0)
		return fault_errno(f, -r, "'%s' in the sum", path);
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "'%s' in the sum", path) : fd;
}

/* After the last entry: each one sets the time, and a mode may forbid them. */
static int leave_directory(struct sum *s, const struct walk_entry *e, struct fault *f)
{
	_cleanup_close_ int fd = open_out(s, e->path, f);
	/* overlayfs copies no attribute of the root up: those of LOWER stay. */
	int r = fd < 0 ? fd : !*e->path ? 0 : overlay_copy_clear(fd, f);

	if (r == 0)
		r = overlay_copy_metadata(e->fd, fd, f);
	return fault_wrap(f, r, "'%s' in the sum", e->path);
}

static int mark(int fd, const struct overlay_xattr *m, bool opaque, bool origin, struct fault *f)
{
	if (opaque && fsetxattr(fd, OPAQUE, "y", 1, 0) < 0)
		return fault_errno(f, errno, "mark a directory of the sum as opaque");
	if (origin && m->has_origin && fsetxattr(fd, ORIGIN, m->origin, m->origin_len, 0) < 0)
		return fault_errno(f, errno, "mark the origin of a directory of the sum");
	return 0;
}

/* *RET: type of the entry that the sum has at this place; 0: none. */
static int look(int dirfd, const char *name, mode_t *ret, const char *path, struct fault *f)
{
	struct stat st;

	*ret = 0;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		*ret = st.st_mode & S_IFMT;
	else if (errno != ENOENT)
		return fault_errno(f, errno, "'%s' in the sum", path);
	return 0;
}

static int clear(struct sum *s, int dirfd, const char *name, mode_t type, struct fault *f)
{
	if (type == S_IFDIR) {
		int r = path_remove_tree(dirfd, name, f);

		/* It may hold the directory that was removed. */
		tree_at_forget(&s->out);
		return r;
	}
	return type && unlinkat(dirfd, name, 0) < 0 ? fault_errno(f, errno, "replace '%s' in the sum", name)
						    : 0;
}

/* NAME is the last part of E->path.  DIRFD is valid until the next lookup. */
static int find_place(struct sum *s, const struct walk_entry *e, int *ret, mode_t *ret_type, struct fault *f)
{
	const char *name;
	int r = tree_at_parent(&s->out, e->path, ret, &name);

	if (r < 0)
		return fault_errno(f, -r, "'%s' in the sum", e->path);
	*ret_type = 0;
	return s->above ? look(*ret, e->name, ret_type, e->path, f) : 0;
}

static int make_directory(struct sum *s, const struct walk_entry *e, const struct overlay_xattr *m,
			  struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	bool hides, merged;
	mode_t type;
	int dirfd, r;

	r = find_place(s, e, &dirfd, &type, f);
	if (r < 0)
		return r;
	merged = type == S_IFDIR && !m->opaque;
	hides = m->opaque || (type && type != S_IFDIR);
	if (merged)
		return 0;
	if (type) {
		r = clear(s, dirfd, e->name, type, f);
		if (r == 0)
			r = find_place(s, e, &dirfd, &type, f);
		if (r < 0)
			return r;
	}
	if (mkdirat(dirfd, e->name, 0700) < 0)
		return fault_errno(f, errno, "make '%s' in the sum", e->path);
	fd = openat(dirfd, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s' in the sum", e->path);
	return mark(fd, m, hides, !hides, f);
}

static int note_pure(struct sum *s, const struct walk_entry *e, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char byte;

	if (s->pure)
		return 0;
	fd = open_out(s, e->path, f);
	if (fd < 0)
		return fd;
	if (fgetxattr(fd, OPAQUE, &byte, 1) == 1)
		s->pure = e->depth + 1;
	return 0;
}

static int enter_directory(struct sum *s, const struct walk_entry *e, struct fault *f)
{
	_cleanup_overlay_xattr_ struct overlay_xattr m = { 0 };
	int r = overlay_xattr_read(e->fd, OVERLAY_XATTR_USER, &m, f);

	if (r == 0)
		r = require_known(&m, e->path, f);
	/* The root exists.  It is never opaque, and its origin is of no use: the review compares device and inode. */
	if (r < 0 || !*e->path)
		return r;
	r = make_directory(s, e, &m, f);
	return r < 0 ? r : note_pure(s, e, f);
}

/* Unknown: true. */
static bool hides_something(struct sum *s, const char *path)
{
	struct statx stx;
	int r;

	if (s->pure)
		return false;
	r = s->has_tree ? tree_at_stat(&s->tree, path, &stx) : 0;
	return r != -ENOENT && r != -ENOTDIR;
}

static int place_entry(struct sum *s, const struct walk_entry *e, struct fault *f)
{
	mode_t type;
	int dirfd, r;

	r = find_place(s, e, &dirfd, &type, f);
	if (r == 0 && type) {
		r = clear(s, dirfd, e->name, type, f);
		if (r == 0)
			r = find_place(s, e, &dirfd, &type, f);
	}
	if (r < 0)
		return r;
	/* overlayfs links whiteouts to each other, up to the file system's limit: a further link would fail. */
	if (overlay_is_whiteout(&e->stx)) {
		if (hides_something(s, e->path) && mknodat(dirfd, e->name, S_IFCHR, 0) < 0)
			return fault_errno(f, errno, "make the whiteout '%s' in the sum", e->path);
		return 0;
	}
	/* No link: a payload that runs would see the count of it. */
	if (s->moment && s->above && S_ISREG(e->stx.stx_mode))
		return overlay_copy_entry(&s->copies, &s->out, e, f);
	if (linkat(e->dirfd, e->name, dirfd, e->name, 0) == 0 || (s->moment && errno == ENOENT))
		return 0;
	/* A payload can give a file almost as many names as the file system allows. */
	if (errno == EMLINK)
		return overlay_copy_entry(&s->copies, &s->out, e, f);
	return fault_errno(f, errno, "link '%s' into the sum", e->path);
}

static int add(struct sum *s, int layer, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r = walk_new(layer, 0, &w, f);

	while (r >= 0 && (r = walk_next(w, &e, f)) > 0)
		switch ((enum walk_event)r) {
		case WALK_ENTER:
			r = enter_directory(s, &e, f);
			break;
		case WALK_LEAVE:
			r = leave_directory(s, &e, f);
			if (s->pure == e.depth + 1)
				s->pure = 0;
			break;
		case WALK_ENTRY:
			r = place_entry(s, &e, f);
			seam("sum-entry-placed");
			break;
		case WALK_ERROR:
			if (s->moment && e.error == ENOENT)
				break;
			return fault_errno(f, e.error, "'%s' in the upper: %s", e.path, e.why);
		case WALK_END:
			break;
		}
	return r;
}

int overlay_sum_make(const struct overlay_sum_ask *ask, struct fault *f)
{
	struct sum s = { .out = TREE_AT_NONE,
			 .tree = TREE_AT_NONE,
			 .has_tree = ask->worktree >= 0,
			 .moment = ask->moment };
	int r = tree_at_init(&s.out, ask->out, f);

	if (r == 0 && s.has_tree)
		r = tree_at_init(&s.tree, ask->worktree, f);
	if (r == 0)
		r = add(&s, ask->lower, f);
	s.above = true;
	if (r == 0)
		r = add(&s, ask->upper, f);
	overlay_copy_forget(&s.copies);
	tree_at_done(&s.out);
	tree_at_done(&s.tree);
	return r < 0 ? fault_wrap(f, r, "add up the changes") : 0;
}
