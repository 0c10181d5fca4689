/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "review/attributes.h"
#include "review/base-record.h"
#include "review/changes-impl.h"

#define BLOCK ((size_t)64 * 1024)

static size_t parent_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

/* A new directory of many files: the base is asked once, not for each file. */
bool changes_is_in_missing(const struct collect *c, const char *path)
{
	size_t n = parent_length(path);

	return c->missing && n > 0 && strncmp(c->missing, path, n) == 0 && !c->missing[n];
}

static void note_missing(struct collect *c, const char *path)
{
	/* The lookup failed before it reached the last name. */
	if (c->base.dir || !parent_length(path))
		return;
	free(c->missing);
	c->missing = strndup(path, parent_length(path));
}

int changes_look_base(struct collect *c, const char *path, struct change_side *ret, struct fault *f)
{
	struct statx stx;
	int r = changes_is_in_missing(c, path) ? -ENOENT : tree_at_stat(&c->base, path, &stx);

	*ret = (struct change_side){ 0 };
	if (r == -ENOENT)
		note_missing(c, path);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0)
		return fault_errno(f, -r, "'%s' in the worktree", path);
	changes_fill_side(ret, &stx);
	if (S_ISLNK(ret->mode)) {
		r = tree_at_readlink(&c->base, path, &ret->link);
		if (r < 0)
			return fault_errno(f, -r, "'%s' in the worktree", path);
	}
	return 1;
}

static ssize_t read_block(int fd, char *block, size_t want)
{
	size_t have = 0;

	while (have < want) {
		ssize_t n = read(fd, block + have, want - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

/* SIZE bytes.  1: equal, 0: different, or shorter by now. */
static int compare_bytes(struct collect *c, int a, int b, uint64_t size)
{
	if (!c->blocks)
		c->blocks = malloc(2 * BLOCK);
	if (!c->blocks)
		return -ENOMEM;
	while (size > 0) {
		size_t want = size < BLOCK ? (size_t)size : BLOCK;
		ssize_t n = read_block(a, c->blocks, want), m = read_block(b, c->blocks + BLOCK, want);

		if (n < 0 || m < 0)
			return (int)(n < 0 ? n : m);
		if ((size_t)n != want || (size_t)m != want || memcmp(c->blocks, c->blocks + BLOCK, want) != 0)
			return 0;
		size -= want;
	}
	return 1;
}

/* 1: the bytes differ, 0: they do not.  The caller records an unreadable file in the change. */
static int compare_files(struct collect *c, struct change *ch)
{
	_cleanup_close_ int new = -EBADF, old = -EBADF;
	int r;

	if (ch->old.size != ch->new.size)
		return 1;
	if (ch->data && str_eq(ch->data, ch->path))
		return 0;
	new = ch->data ? tree_at_open(&c->base, ch->data) : tree_at_open_known(&c->upper, ch->path);
	old = tree_at_open_known(&c->base, ch->path);
	if (new < 0 || old < 0)
		return new < 0 ? new : old;
	r = compare_bytes(c, new, old, ch->new.size);
	return r < 0 ? r : !r;
}

bool changes_time_is_after(const struct timespec *t, const struct timespec *since)
{
	return t->tv_sec == since->tv_sec ? t->tv_nsec > since->tv_nsec : t->tv_sec > since->tv_sec;
}

bool changes_is_later(const struct collect *c, const struct change_side *s)
{
	const struct timespec *since = &c->ask->since, *t = &s->ctime;

	if (since->tv_sec == 0 || !changes_time_is_after(t, since))
		return false;
	/*
	 * Every operation on a name changes the directory's ctime and mtime, and names are compared one by one.  Only when the
	 * two differ, the directory itself was renamed or changed after that.
	 */
	return !S_ISDIR(s->mode) || t->tv_sec != s->mtime.tv_sec || t->tv_nsec != s->mtime.tv_nsec;
}

bool changes_is_moved(const struct collect *c, const struct change_side *s)
{
	return S_ISDIR(s->mode) && c->ask->since.tv_sec &&
	       (changes_is_later(c, s) || changes_time_is_after(&s->btime, &c->ask->since));
}

const char *changes_compare_record(struct collect *c, const char *path, const struct change_side *s)
{
	const char *name = "";
	int fd = c->ask->base;

	if (!c->ask->record)
		return NULL;
	if (changes_is_in_missing(c, path) || (*path && tree_at_parent(&c->base, path, &fd, &name) < 0))
		fd = -EBADF;
	return base_record_compare(c->ask->record, path, s, fd, name);
}

static bool is_origin(struct collect *c, const struct change *ch, const struct overlay_xattr *mark)
{
	const char *name = "";
	int fd = c->ask->base;

	if (*ch->path && tree_at_parent(&c->base, ch->path, &fd, &name) < 0)
		return true;
	return overlay_is_origin(mark, fd, name);
}

/* The entry of the base, against the record. */
static const char *find_difference(struct collect *c, const struct change *ch)
{
	if (!c->ask->record || (!S_ISDIR(ch->new.mode) && ch->kind == CHANGE_SAME))
		return NULL;
	/*
	 * Made by an earlier apply, or on the host as well.  No conflict: the entries in it are compared one by one, and those
	 * that the record does not have are neither replaced nor removed.
	 */
	if (S_ISDIR(ch->new.mode) && S_ISDIR(ch->old.mode) &&
	    !base_record_has_directory(c->ask->record, ch->path))
		return NULL;
	return changes_compare_record(c, ch->path, &ch->old);
}

/* By origin only for directories: a file may have been renamed, so its origin does not tell its path; its ctime decides. */
static const char *find_conflict(struct collect *c, const struct change *ch, const struct overlay_xattr *mark)
{
	mode_t ours = (ch->new.mode & 07777) | 0700;
	const char *how = find_difference(c, ch);

	if (how)
		return how;
	if (mark && mark->has_origin && S_ISDIR(ch->new.mode)) {
		if (!ch->old.mode)
			return "was removed since";
		if (S_ISDIR(ch->old.mode) && !is_origin(c, ch, mark))
			return "was replaced by another directory since";
	}
	if (!ch->old.mode || ch->kind == CHANGE_SAME)
		return NULL;
	/* A killed apply may have left this mode, which it sets before the final one. */
	if (ch->kind == CHANGE_MODIFIED && S_ISDIR(ch->old.mode) && (ch->old.mode & 07777) == ours)
		return NULL;
	return changes_is_later(c, &ch->old) ? "was changed since" : NULL;
}

/* Metacopy: the data in the base must not have changed. */
static int check_data(struct collect *c, struct change *ch, struct fault *f)
{
	struct change_side s;
	int r = changes_look_base(c, ch->data, &s, f);

	free(s.link);
	if (r < 0)
		return r;
	ch->data_ino = s.ino;
	if (r == 0 || !S_ISREG(s.mode))
		ch->conflict = "was removed since";
	else if (changes_is_later(c, &s))
		ch->conflict = "was changed since";
	else
		ch->conflict = changes_compare_record(c, ch->data, &s);
	return 0;
}

int changes_add_unknown(struct collect *c, const char *path, int error, const char *why, struct fault *f)
{
	struct change *ch = changes_add(c, path, CHANGE_UNKNOWN, f);

	if (!ch)
		return -(f && f->code ? f->code : ENOMEM);
	ch->error = error;
	ch->why = why;
	return 0;
}

int changes_set_unknown(struct change *ch, int r, struct fault *f)
{
	if (r == -ENOMEM)
		return r;
	if (f)
		fault_done(f);
	ch->kind = CHANGE_UNKNOWN;
	ch->error = -r;
	ch->why = r == -EXDEV ? "is on another mount of the host" : "cannot be read";
	return 0;
}

/* For a record.  The root is the directory that the session began with: its inode is checked. */
static void note_old(struct collect *c, struct change *ch, const struct overlay_xattr *mark)
{
	ch->kind = !ch->old.mode				       ? CHANGE_ADDED
		   : (ch->old.mode & S_IFMT) != (ch->new.mode &S_IFMT) ? CHANGE_REPLACED
								       : CHANGE_MODIFIED;
	ch->gone = !ch->old.mode && changes_may_be_gone(c, ch);
	if (!*ch->path || !S_ISDIR(ch->old.mode))
		return;
	ch->moved =
		mark && overlay_has_origin(mark) ? !is_origin(c, ch, mark) : changes_is_moved(c, &ch->old);
}

static bool is_bare(struct tree_at *t, const char *path)
{
	struct attribute_names names;
	const char *name;
	int dir;

	if (!*path || tree_at_parent(t, path, &dir, &name) < 0)
		return false;
	attribute_names_read(dir, name, &names);
	return !attribute_names_may_have_user(&names);
}

static int read_attributes(struct tree_at *t, const char *path, struct attributes *ret)
{
	_cleanup_close_ int fd = -EBADF;

	if (is_bare(t, path))
		return 0;
	fd = tree_at_entry(t, path);
	return fd < 0 ? fd : attributes_read(fd, ret);
}

/* A moved directory has no entry in the upper: those of its place in the base count. */
static int compare_attributes(struct collect *c, struct change *ch)
{
	_cleanup_attributes_ struct attributes old = { 0 }, new = { 0 };
	int r;

	if (!S_ISREG(ch->new.mode) && !S_ISDIR(ch->new.mode))
		return 0;
	r = ch->bare ? 0 : read_attributes(&c->upper, ch->path, &new);
	if ((r == -ENOENT || r == -ENOTDIR) && ch->data)
		r = read_attributes(&c->base, ch->data, &new);
	if (r == 0 && ch->old.mode && (ch->old.mode & S_IFMT) == (ch->new.mode &S_IFMT))
		r = read_attributes(&c->base, ch->path, &old);
	return r < 0 ? r : attributes_compare(&old, &new, &ch->attributes);
}

int changes_judge(struct collect *c, struct change *ch, const struct overlay_xattr *mark, struct fault *f)
{
	mode_t type = ch->new.mode &S_IFMT;
	int r;

	r = changes_look_base(c, ch->path, &ch->old, f);
	if (r < 0)
		return changes_set_unknown(ch, r, f);
	if (c->ask->recording) {
		note_old(c, ch, mark);
		return 0;
	}
	if (r == 0 || (ch->old.mode & S_IFMT) != type) {
		ch->kind = r == 0 ? CHANGE_ADDED : CHANGE_REPLACED;
		r = compare_attributes(c, ch);
		if (r < 0)
			return r == -ENOMEM ? fault_errno(f, ENOMEM, "changes")
					    : changes_set_unknown(ch, r, f);
	} else {
		if (S_ISREG(type))
			r = compare_files(c, ch);
		else if (S_ISLNK(type))
			r = !str_eq(ch->old.link, ch->new.link);
		else
			r = (S_ISCHR(type) || S_ISBLK(type)) && (ch->old.rdev_major != ch->new.rdev_major ||
								 ch->old.rdev_minor != ch->new.rdev_minor);
		if (r == -ENOMEM)
			return fault_errno(f, ENOMEM, "changes");
		if (r < 0)
			return changes_set_unknown(ch, r, f);
		ch->bytes = r > 0;
		r = compare_attributes(c, ch);
		if (r == -ENOMEM)
			return fault_errno(f, ENOMEM, "changes");
		if (r < 0)
			return changes_set_unknown(ch, r, f);
		ch->kind = ch->bytes || ch->attributes || (!S_ISLNK(type) && ch->old.mode != ch->new.mode) ||
					   ch->old.uid != ch->new.uid || ch->old.gid != ch->new.gid
				   ? CHANGE_MODIFIED
				   : CHANGE_SAME;
	}
	if (ch->kind != CHANGE_MODIFIED)
		ch->bytes = ch->kind != CHANGE_SAME;
	ch->conflict = find_conflict(c, ch, mark);
	return ch->data && S_ISREG(type) && !ch->conflict && ch->kind != CHANGE_SAME ? check_data(c, ch, f)
										     : 0;
}
