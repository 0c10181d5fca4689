/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "review/attributes.h"
#include "review/base-record.h"
#include "review/changes-impl.h"

static int push(struct collect *c, char *lower, bool whiteouts, struct fault *f)
{
	if (c->n_lower == c->room_lower) {
		size_t room = c->room_lower ? c->room_lower * 2 : 32;
		char **paths = reallocarray(c->lower, room, sizeof(*paths));
		bool *flags;

		if (paths)
			c->lower = paths;
		flags = paths ? reallocarray(c->whiteouts, room, sizeof(*flags)) : NULL;
		if (!flags) {
			free(lower);
			return fault_errno(f, ENOMEM, "changes");
		}
		c->whiteouts = flags;
		c->room_lower = room;
	}
	c->whiteouts[c->n_lower] = whiteouts;
	c->lower[c->n_lower++] = lower;
	return 0;
}

void changes_collect_done(struct collect *c)
{
	for (size_t i = 0; i < c->n_lower; i++)
		free(c->lower[i]);
	free(c->lower);
	free(c->whiteouts);
	free(c->missing);
	free(c->later);
	free(c->blocks);
	tree_at_done(&c->base);
	tree_at_done(&c->upper);
}

/* A path from an attribute of the upper, untrusted: only plain names are accepted. */
static bool is_plain(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 0 || n > NAME_MAX || (n <= 2 && memcmp(path, "..", n) == 0))
			return false;
		path += n;
		path += *path == '/' && path[1];
		if (*path == '/')
			return false;
	}
	return true;
}

/* The path in the base that is merged into the entry NAME, whose directory shows PARENT.  NULL: none. */
static int find_lower(const char *parent, const char *name, const struct overlay_xattr *m, char **ret)
{
	const char *from = m->redirect ? m->redirect : name;

	*ret = NULL;
	if (m->redirect && from[0] == '/') {
		if (!is_plain(from + 1) || !from[1])
			return -EINVAL;
		*ret = strdup(from + 1);
		return *ret ? 0 : -ENOMEM;
	}
	if (m->redirect && (strchr(from, '/') || !is_plain(from)))
		return -EINVAL;
	if (!parent)
		return 0;
	*ret = *parent ? path_join(parent, from) : strdup(from);
	return *ret ? 0 : -ENOMEM;
}

/* Files of the upper belong to the session's ids; on the host they get the worktree's owner. */
static bool map_owner(const struct capture_ids *ids, struct change_side *s)
{
	if (!ids->set)
		return true;
	if (s->uid != ids->uid_from || s->gid != ids->gid_from)
		return false;
	s->uid = ids->uid_to;
	s->gid = ids->gid_to;
	return true;
}

static bool has_capability(int fd)
{
	char path[48];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "security.capability", NULL, 0) > 0;
}

static struct change *add_new(struct collect *c, const struct walk_entry *e, int fd, struct fault *f)
{
	struct change *ch = changes_add(c, e->path, CHANGE_ADDED, f);
	int r;

	if (!ch)
		return NULL;
	changes_fill_side(&ch->new, &e->stx);
	if (c->ask->recording)
		return ch;
	ch->privileged = !map_owner(&c->ask->ids, &ch->new) ||
			 (S_ISREG(ch->new.mode) && fd >= 0 && has_capability(fd));
	if (S_ISLNK(ch->new.mode)) {
		r = tree_readlink(e->dirfd, e->name, &ch->new.link);
		if (r < 0) {
			(void)fault_errno(f, -r, "'%s' in the upper", e->path);
			return NULL;
		}
	}
	return ch;
}

static bool was_directory(const struct collect *c, const char *path)
{
	return c->ask->record && base_record_has_directory(c->ask->record, path);
}

static int take_directory(struct collect *c, const struct walk_entry *e, struct walk *w, struct fault *f)
{
	const char *parent = c->n_lower ? c->lower[c->n_lower - 1] : "";
	_cleanup_overlay_xattr_ struct overlay_xattr m = { 0 };
	_cleanup_free_ char *lower = NULL;
	struct change *ch;
	struct statx stx;
	size_t at;
	int r;

	r = overlay_xattr_read(e->fd, c->ask->xattrs, &m, f);
	if (r == 0)
		r = *e->path ? find_lower(parent, e->name, &m, &lower) : ((lower = strdup("")) ? 0 : -ENOMEM);
	if (r == -ENOMEM)
		return fault_errno(f, ENOMEM, "changes");
	if (r < 0) {
		if (f)
			fault_done(f);
		walk_skip(w);
		r = changes_add_unknown(c, e->path, -r, "has an overlayfs redirect that is invalid", f);
		return r < 0 ? r : push(c, NULL, false, f);
	}
	ch = add_new(c, e, e->fd, f);
	if (!ch)
		return -(f && f->code ? f->code : ENOMEM);
	if (m.opaque) {
		free(lower);
		lower = NULL;
	}
	/* The directory it was merged with may have been removed or replaced since. */
	if (lower && (tree_at_stat(&c->base, lower, &stx) < 0 || !S_ISDIR(stx.stx_mode))) {
		/* If an apply has moved it on the host already, nothing is missing. */
		if (m.redirect && (tree_at_stat(&c->base, e->path, &stx) < 0 || !S_ISDIR(stx.stx_mode)))
			ch->conflict = "came from a directory that was removed since";
		else if ((m.has_origin || was_directory(c, e->path)) && str_eq(lower, e->path))
			ch->conflict = "was removed since";
		free(lower);
		lower = m.redirect ? strdup(e->path) : NULL;
		if (m.redirect && !lower)
			return fault_errno(f, ENOMEM, "changes");
	}
	at = c->list->n - 1;
	if (!ch->conflict)
		/* The origin is known only for a directory that is merged with its own path. */
		r = changes_judge(c, ch, str_eq(lower, e->path) && !m.redirect ? &m : NULL, f);
	c->list->items[at].whole = !lower;
	if (r == 0 && !str_eq(lower, e->path))
		r = changes_shift(c, e->path, e->fd, lower, f);
	return r < 0 ? r : push(c, TAKE_PTR(lower), m.whiteouts, f);
}

static int take_whiteout(struct collect *c, const char *path, struct fault *f)
{
	size_t before = c->list->n;
	int r = changes_delete(c, path, true, f);

	/* Removed already: listed as SAME, so that naming the path is no error. */
	if (r == 0 && c->list->n == before)
		return changes_add(c, path, CHANGE_SAME, f) ? 0 : -(f && f->code ? f->code : ENOMEM);
	return r;
}

/* REMOVED: the name that the mark E beside it declares removed. */
static int take_fuse_mark(struct collect *c, const struct walk_entry *e, const char *removed, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	/* Between the two steps of a rename both exist: then the entry counts, not the mark. */
	if (!removed || fstatat(e->dirfd, removed, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (asprintf(&path, "%.*s%s", (int)(strlen(e->path) - strlen(e->name)), e->path, removed) < 0)
		return fault_errno(f, ENOMEM, "changes");
	return take_whiteout(c, path, f);
}

/* For metacopy: only the attributes were copied up, the data is in the base. */
static int find_data(struct collect *c, const struct walk_entry *e, const struct overlay_xattr *m,
		     struct change *ch, struct fault *f)
{
	struct statx stx;
	int r;

	r = find_lower(c->lower[c->n_lower - 1], e->name, m, &ch->data);
	if (r == -ENOMEM)
		return fault_errno(f, ENOMEM, "changes");
	if (r < 0 || !ch->data) {
		ch->kind = CHANGE_UNKNOWN;
		ch->error = EINVAL;
		ch->why = "has an overlayfs redirect of its data that is invalid";
		return 1;
	}
	if (tree_at_stat(&c->base, ch->data, &stx) == 0 && S_ISREG(stx.stx_mode))
		ch->new.size = stx.stx_size;
	return 0;
}

/* A record needs only the marks that decide whether there is an entry: five calls for each file would be too many. */
static bool needs_marks(const struct collect *c, const struct walk_entry *e)
{
	return !c->ask->recording || (e->stx.stx_size == 0 && c->whiteouts[c->n_lower - 1]);
}

/*
 * Marks that decide about a file.  Each copy has "origin" besides, which decides nothing about a file: opening it and asking for
 * five marks cost half of the walk.
 */
static bool may_have_marks(const struct attribute_names *names, enum overlay_xattr_place place)
{
	static const char *const user[] = { "user.overlay.opaque", "user.overlay.whiteout",
					    "user.overlay.metacopy", "user.overlay.redirect", NULL },
				 *const trusted[] = { "trusted.overlay.opaque", "trusted.overlay.whiteout",
						      "trusted.overlay.metacopy", "trusted.overlay.redirect",
						      NULL },
				 *const fuse[] = { "user.", NULL };
	const char *const *marks = place == OVERLAY_XATTR_TRUSTED ? trusted
				   : place == OVERLAY_XATTR_USER  ? user
								  : fuse;

	for (; *marks; marks++)
		if (attribute_names_may_have(names, *marks))
			return true;
	return false;
}

static int take_entry(struct collect *c, const struct walk_entry *e, struct fault *f)
{
	_cleanup_overlay_xattr_ struct overlay_xattr m = { 0 };
	_cleanup_close_ int fd = -EBADF;
	struct attribute_names names;
	const char *removed = NULL;
	struct change *ch;
	size_t at;
	int r = 0;

	if (c->ask->xattrs == OVERLAY_XATTR_FUSE && overlay_is_fuse_mark(e->name, &e->stx, &removed))
		return take_fuse_mark(c, e, removed, f);
	if (overlay_is_whiteout(&e->stx))
		return take_whiteout(c, e->path, f);
	names.n = -1;
	if (S_ISREG(e->stx.stx_mode) && needs_marks(c, e))
		attribute_names_read(e->dirfd, e->name, &names);
	if (S_ISREG(e->stx.stx_mode) && needs_marks(c, e) &&
	    (may_have_marks(&names, c->ask->xattrs) ||
	     attribute_names_may_have(&names, "security.capability"))) {
		fd = openat(e->dirfd, e->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return changes_add_unknown(c, e->path, errno, "cannot be opened", f);
		r = overlay_xattr_read(fd, c->ask->xattrs, &m, f);
		if (r < 0) {
			if (f)
				fault_done(f);
			return changes_add_unknown(c, e->path, -r,
						   "has overlayfs attributes that cannot be read", f);
		}
	}
	if (m.whiteout && e->stx.stx_size == 0 && c->whiteouts[c->n_lower - 1])
		return take_whiteout(c, e->path, f);
	ch = add_new(c, e, fd, f);
	if (!ch)
		return -(f && f->code ? f->code : ENOMEM);
	ch->bare = !attribute_names_may_have_user(&names);
	at = c->list->n - 1;
	if (m.metacopy) {
		r = find_data(c, e, &m, ch, f);
		if (r != 0)
			return r < 0 ? r : 0;
	} else if (S_ISREG(ch->new.mode) && !c->ask->recording) {
		return changes_add_later(c, f);
	}
	r = changes_judge(c, ch, NULL, f);
	if (r == 0 && c->list->items[at].kind == CHANGE_REPLACED && S_ISDIR(c->list->items[at].old.mode))
		r = changes_delete(c, e->path, false, f);
	return r;
}

static void tell(struct collect *c, const struct walk_entry *e)
{
	c->entries++;
	c->bytes += S_ISREG(e->stx.stx_mode) ? e->stx.stx_size : 0;
	if (c->ask->progress)
		c->ask->progress(c->ask->progress_arg, c->entries, c->bytes);
}

static int take(struct collect *c, int event, const struct walk_entry *e, struct walk *w, struct fault *f)
{
	switch ((enum walk_event)event) {
	case WALK_ENTER:
		return take_directory(c, e, w, f);
	case WALK_LEAVE:
		free(c->lower[--c->n_lower]);
		return 0;
	case WALK_ENTRY:
		tell(c, e);
		return take_entry(c, e, f);
	case WALK_ERROR:
		return changes_add_unknown(c, e->path, e->error, e->why, f);
	case WALK_END:
		break;
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return changes_compare(((const struct change *)a)->path, ((const struct change *)b)->path);
}

int changes_collect(const struct changes_ask *ask, struct changes *ret, struct fault *f)
{
	_cleanup_changes_ struct changes list = { 0 };
	struct collect c = { .ask = ask, .list = &list, .base = TREE_AT_NONE, .upper = TREE_AT_NONE };
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r;

	r = tree_at_init(&c.base, ask->base, f);
	if (r == 0)
		r = tree_at_init(&c.upper, ask->upper, f);
	if (r == 0)
		r = walk_new(ask->upper, WALK_SORTED, &w, f);
	while (r >= 0 && (r = walk_next(w, &e, f)) > 0)
		r = take(&c, r, &e, w, f);
	if (r == 0)
		r = changes_judge_later(&c, f);
	changes_collect_done(&c);
	if (r < 0)
		return r;
	if (list.n)
		qsort(list.items, list.n, sizeof(*list.items), by_path);
	*ret = list;
	list = (struct changes){ 0 };
	return 0;
}
