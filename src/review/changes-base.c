/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes without an entry in the upper: the content of removed and of moved directories. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "review/changes-impl.h"
#include "review/review-judge.h"

static char *join(const char *dir, const char *name)
{
	return !*dir ? strdup(name) : !*name ? strdup(dir) : path_join(dir, name);
}

/* Leftovers of a killed apply are not part of the tree; the next apply removes them. */
static bool is_leftover(struct walk *w, int event, const struct walk_entry *e)
{
	if (!str_starts(e->name, REVIEW_TEMP))
		return false;
	if (event == WALK_ENTER)
		walk_skip(w);
	return true;
}

static int add_deleted(struct collect *c, const char *path, struct fault *f)
{
	struct change_side old;
	struct change *ch;
	int r = changes_look_base(c, path, &old, f);

	if (r == 0 || r == -ENOMEM)
		return r;
	if (r < 0) {
		if (f)
			fault_done(f);
		return changes_add_unknown(c, path, -r, "cannot be read in the worktree", f);
	}
	ch = changes_add(c, path, CHANGE_DELETED, f);
	if (!ch) {
		free(old.link);
		return -(f && f->code ? f->code : ENOMEM);
	}
	ch->old = old;
	ch->bytes = true;
	if (c->ask->recording)
		ch->moved = changes_is_moved(c, &old);
	else if (changes_is_later(c, &old))
		ch->conflict = "was changed since";
	else
		ch->conflict = changes_compare_record(c, path, &old);
	return 0;
}

/* Opens the directory PATH of the base for walking; -ENOTDIR when it is not a directory. */
static int walk_base(struct collect *c, const char *path, struct walk **ret, struct fault *f)
{
	int fd, r = tree_at_dir(&c->base, path, &fd);

	return r < 0 ? r : walk_new(fd, WALK_SORTED, ret, f);
}

/* The content of PATH is unknown: it is not removed. */
static int cannot_walk(struct collect *c, const char *path, int r, struct fault *f)
{
	if (r == -ENOMEM)
		return f && f->code ? r : fault_errno(f, ENOMEM, "changes");
	if (f)
		fault_done(f);
	return changes_add_unknown(c, path, -r, "cannot be listed in the worktree", f);
}

int changes_delete(struct collect *c, const char *path, bool self, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r = self ? add_deleted(c, path, f) : 0;

	if (r == 0)
		r = walk_base(c, path, &w, f);
	if (r == -ENOTDIR || r == -ENOENT)
		return 0;
	if (r < 0)
		return cannot_walk(c, path, r, f);
	while ((r = walk_next(w, &e, f)) > 0) {
		_cleanup_free_ char *full = join(path, e.path);

		if (!full)
			return fault_errno(f, ENOMEM, "changes");
		if (r == WALK_LEAVE || !*e.path || is_leftover(w, r, &e))
			continue;
		r = r == WALK_ERROR ? changes_add_unknown(c, full, e.error, e.why, f)
				    : add_deleted(c, full, f);
		if (r < 0)
			return r;
	}
	return r;
}

/* An entry of the base, below FROM, that the overlay shows at PATH. */
static int add_shifted(struct collect *c, const char *path, const char *from, struct fault *f)
{
	struct change_side new;
	struct change *ch;
	int r = changes_look_base(c, from, &new, f);

	if (r <= 0)
		return r;
	ch = changes_add(c, path, CHANGE_ADDED, f);
	if (!ch) {
		free(new.link);
		return -(f && f->code ? f->code : ENOMEM);
	}
	ch->new = new;
	ch->data = strdup(from);
	if (!ch->data)
		return fault_errno(f, ENOMEM, "changes");
	r = changes_judge(c, ch, NULL, f);
	if (r == 0 && ch->kind == CHANGE_REPLACED && S_ISDIR(ch->old.mode))
		r = changes_delete(c, path, false, f);
	return r;
}

static bool has_name(int fd, const char *name)
{
	struct stat st;

	return fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Entries of the base in DIR that neither UPPER nor FROM has: the overlay hides them. */
static int drop_rest(struct collect *c, const char *dir, int upper, const char *from, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	_cleanup_close_ int other = -EBADF;
	struct walk_entry e;
	int fd, r;

	if (from && tree_at_dir(&c->base, from, &fd) == 0)
		other = openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = walk_base(c, dir, &w, f);
	if (r == -ENOTDIR || r == -ENOENT)
		return 0;
	if (r < 0)
		return cannot_walk(c, dir, r, f);
	while ((r = walk_next(w, &e, f)) > 0) {
		_cleanup_free_ char *full = join(dir, e.path);

		if (!full)
			return fault_errno(f, ENOMEM, "changes");
		if (r == WALK_LEAVE || !*e.path || is_leftover(w, r, &e))
			continue;
		if (r == WALK_ENTER)
			walk_skip(w);
		if (has_name(upper, e.name) || has_name(other, e.name))
			continue;
		r = changes_delete(c, full, true, f);
		if (r < 0)
			return r;
	}
	return r;
}

int changes_shift(struct collect *c, const char *dir, int fd, const char *from, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r = drop_rest(c, dir, fd, from, f);

	if (r < 0 || !from)
		return r;
	r = walk_base(c, from, &w, f);
	if (r < 0)
		return cannot_walk(c, dir, r, f);
	while ((r = walk_next(w, &e, f)) > 0) {
		_cleanup_free_ char *path = join(dir, e.path), *source = join(from, e.path);

		if (!path || !source)
			return fault_errno(f, ENOMEM, "changes");
		if (r == WALK_LEAVE || !*e.path || is_leftover(w, r, &e))
			continue;
		/* Names that exist in the upper are handled by the walk of the upper. */
		if (!strchr(e.path, '/') && has_name(fd, e.name)) {
			if (r == WALK_ENTER)
				walk_skip(w);
			continue;
		}
		if (r == WALK_ERROR) {
			r = changes_add_unknown(c, path, e.error, e.why, f);
		} else {
			bool enter = r == WALK_ENTER;

			r = add_shifted(c, path, source, f);
			if (r == 0 && enter)
				r = drop_rest(c, path, -EBADF, source, f);
		}
		if (r < 0)
			return r;
	}
	return r;
}
