/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/walk.h"
#include "review/apply-impl.h"

#define SAVED_MAX 100 /* names tried for a saved edit of one path */

static void hash_text(const char *text, size_t bytes, char *hex)
{
	struct digest d;

	digest_bytes(text, strlen(text), &d);
	digest_hex(d.bytes, bytes, hex);
}

/* Session part: finds leftovers of this session.  Path part: keeps the names of two paths apart. */
void apply_name_session(const struct apply *a, char name[APPLY_NAME_SIZE])
{
	apply_leftovers(a->ask->session, name);
}

void apply_leftovers(const char *session, char name[APPLY_LEFTOVER_SIZE])
{
	char hex[9];

	hash_text(session, 4, hex);
	(void)snprintf(name, APPLY_LEFTOVER_SIZE, REVIEW_TEMP "%s", hex);
}

static void name_temp(const struct apply *a, const char *path, char temp[APPLY_NAME_SIZE])
{
	size_t n;

	apply_name_session(a, temp);
	n = strlen(temp);
	/* A batch may have many thousand names in one directory: four bytes would collide. */
	hash_text(path, 8, temp + n);
}

/*
 * The owner of the worktree may exchange its directories at any time, for one that is root's, for example, and that the
 * owner cannot enter.  In a new directory, which the owner has, no such directory can be placed.
 */
static int require_parent(const struct apply *a, const struct change *ch, int dirfd, struct fault *f)
{
	const char *slash = strrchr(ch->path, '/');
	_cleanup_free_ char *dir = slash ? strndup(ch->path, (size_t)(slash - ch->path)) : NULL;
	const struct change *p = dir ? changes_find(a->changes, dir) : NULL;
	struct stat st;

	if (slash && !dir)
		return fault_errno(f, ENOMEM, "apply");
	if (!p || !S_ISDIR(p->old.mode) || (p->kind != CHANGE_SAME && p->kind != CHANGE_MODIFIED))
		return 0;
	if (fstat(dirfd, &st) < 0)
		return fault_errno(f, errno, "stat the parent directory");
	return st.st_ino == p->old.ino
		       ? 0
		       : fault_set(f, ESTALE, "the parent directory was changed concurrently");
}

int apply_open_place(struct apply *a, const struct change *ch, struct apply_place *ret, struct fault *f)
{
	int r;

	if (apply_is_in_new(a, ch) && ch != a->top) {
		size_t skip = strlen(a->top->path);

		r = tree_at_parent(&a->new, ch->path + skip + 1, &ret->dirfd, &ret->name);
		ret->temp = ret->name;
		return r < 0 ? fault_errno(f, -r, "open the parent directory") : 0;
	}
	r = tree_at_parent(&a->base, ch->path, &ret->dirfd, &ret->name);
	if (r < 0)
		return fault_errno(f, -r, "open the parent directory");
	name_temp(a, ch->path, ret->room);
	ret->temp = ret->room;
	return require_parent(a, ch, ret->dirfd, f);
}

int apply_clear(const struct apply *a, int dirfd, const char *name, struct fault *f)
{
	return a->ask->has_owner ? path_remove_tree_of(dirfd, name, a->ask->owner, f)
				 : path_remove_tree(dirfd, name, f);
}

/* Not the ctime: a rename changes it.  It was compared when the change was reviewed. */
bool apply_is_old(const struct change *ch, const struct stat *st)
{
	const struct change_side *o = &ch->old;

	if (st->st_ino != o->ino || (st->st_mode & S_IFMT) != (o->mode & S_IFMT))
		return false;
	return S_ISDIR(st->st_mode) ||
	       ((uint64_t)st->st_size == o->size && st->st_mode == o->mode &&
		st->st_mtim.tv_sec == o->mtime.tv_sec && st->st_mtim.tv_nsec == o->mtime.tv_nsec);
}

/* Some file systems store no fractions of a second. */
static bool is_listed(const struct change *ch, const struct statx *stx)
{
	const struct change_side *o = &ch->old;

	if (ch->kind != CHANGE_DELETED || o->ino != stx->stx_ino || o->mode != stx->stx_mode)
		return false;
	return S_ISDIR(stx->stx_mode) ||
	       (o->size == stx->stx_size && o->mtime.tv_sec == stx->stx_mtime.tv_sec &&
		(uint32_t)o->mtime.tv_nsec == stx->stx_mtime.tv_nsec);
}

/* Is every entry of the directory FD, formerly PATH, listed as deleted? */
static int require_listed(const struct apply *a, const char *path, int fd, struct fault *f)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r = walk_new(fd, 0, &w, f);

	while (r >= 0 && (r = walk_next(w, &e, f)) > 0) {
		_cleanup_free_ char *full = NULL;
		const struct change *ch;

		if (r == WALK_LEAVE || !*e.path)
			continue;
		full = path_join(path, e.path);
		if (!full)
			return fault_errno(f, ENOMEM, "apply");
		ch = changes_find(a->changes, full);
		if (r == WALK_ERROR || !ch || !is_listed(ch, &e.stx))
			return fault_set(f, ESTALE, "'%s' in it was changed concurrently", e.path);
	}
	return r;
}

/* Is the entry NAME in DIRFD, with its content, the one that was reviewed? */
static int require_old(const struct apply *a, const struct change *ch, int dirfd, const char *name,
		       struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	/* A directory is opened first, so that the one that was compared is the one that is read. */
	if (S_ISDIR(ch->old.mode))
		fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if ((fd < 0 ? fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) : fstat(fd, &st)) < 0)
		return fault_errno(f, errno, "stat the old entry");
	if (!apply_is_old(ch, &st))
		return fault_set(f, ESTALE, "changed concurrently");
	return S_ISDIR(st.st_mode) ? require_listed(a, ch->path, fd, f) : 0;
}

/* Content of PLACE->temp when a swap fails.  Zero is the safe value: the file may be the only copy of an edit. */
enum temp_content { TEMP_EDIT = 0, TEMP_OWN };

/*
 * An edit of another process that cannot get its name back.  It must not keep a name of this session: the next apply, which
 * continues after this error, removes those.
 */
static int save_edit(const struct apply_place *p, struct fault *f)
{
	char name[APPLY_NAME_SIZE + 16];

	for (unsigned int i = 0; i < SAVED_MAX; i++) {
		int n = snprintf(name, sizeof(name), REVIEW_TEMP "saved-%s", p->temp + strlen(p->temp) - 8);

		if (i > 0)
			(void)snprintf(name + n, sizeof(name) - (size_t)n, ".%u", i);
		if (renameat2(p->dirfd, p->temp, p->dirfd, name, RENAME_NOREPLACE) == 0)
			return fault_set(f, ESTALE, "changed concurrently; previous content saved as '%s'",
					 name);
		if (errno != EEXIST)
			break;
	}
	return fault_set(f, ESTALE,
			 "changed concurrently; previous content is '%s': move it away before the next apply",
			 p->temp);
}

/* Is PLACE->temp still the entry ST that this apply created?  A rename changes its ctime. */
static bool is_own(const struct apply_place *p, const struct stat *st)
{
	struct stat now;

	return fstatat(p->dirfd, p->temp, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == st->st_ino &&
	       now.st_size == st->st_size && now.st_mtim.tv_sec == st->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

static int swap_old(struct apply *a, const struct change *ch, const struct apply_place *p,
		    const struct stat *own, enum temp_content *temp, bool *ret_swapped, struct fault *f)
{
	int r;

	*temp = TEMP_OWN;
	if (renameat2(p->dirfd, p->temp, p->dirfd, p->name, RENAME_EXCHANGE) < 0)
		return fault_errno(
			f, errno,
			errno == EINVAL ? "exchange it (RENAME_EXCHANGE is not supported by this file system)"
					: "exchange it");
	*temp = TEMP_EDIT;
	r = require_old(a, ch, p->dirfd, p->temp, f);
	*ret_swapped = r == 0 && !S_ISDIR(ch->old.mode);
	if (r == 0)
		return S_ISDIR(ch->old.mode) ? apply_clear(a, p->dirfd, p->temp, f) : 0;
	if (renameat2(p->dirfd, p->temp, p->dirfd, p->name, RENAME_EXCHANGE) < 0)
		return save_edit(p, f);
	/* The exchange may have displaced an edit that was made since the first one. */
	if (!is_own(p, own))
		return save_edit(p, f);
	*temp = TEMP_OWN;
	return r;
}

int apply_swap(struct apply *a, const struct change *ch, const struct apply_place *p, const struct stat *own,
	       bool *ret_swapped, struct fault *f)
{
	enum temp_content temp = TEMP_OWN;
	int r = 0;

	if (ch->old.mode)
		r = swap_old(a, ch, p, own, &temp, ret_swapped, f);
	else if (renameat2(p->dirfd, p->temp, p->dirfd, p->name, RENAME_NOREPLACE) < 0)
		r = errno == EEXIST ? fault_set(f, EEXIST, "created concurrently in the worktree")
				    : fault_errno(f, errno, "rename it into place");
	if (r < 0 && temp == TEMP_OWN)
		(void)!apply_clear(a, p->dirfd, p->temp, NULL);
	return r;
}

int apply_remove(struct apply *a, const struct change *ch, struct fault *f)
{
	struct apply_place p;
	int r;

	/* Resolve from the root, so that a directory that was moved away since is not used. */
	tree_at_forget(&a->base);
	r = apply_open_place(a, ch, &p, f);
	if (r < 0)
		return r;
	if (renameat2(p.dirfd, p.name, p.dirfd, p.temp, RENAME_NOREPLACE) < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "move it aside");
	r = require_old(a, ch, p.dirfd, p.temp, f);
	if (r == 0)
		return apply_clear(a, p.dirfd, p.temp, f);
	if (renameat2(p.dirfd, p.temp, p.dirfd, p.name, RENAME_NOREPLACE) < 0)
		return save_edit(&p, f);
	return r;
}
