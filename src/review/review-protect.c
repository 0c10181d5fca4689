/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "review/review-protect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

/*
 * Entries of a repository that name programs, or another place that does: the index makes any directory with a .git in it a
 * submodule, and `git status` obeys its configuration; `git rebase --continue` runs the lines `exec` of rebase-merge.  alternates takes
 * objects from another place.
 */
static const char *const in_git[] = { "hooks",
				      "config",
				      "commondir",
				      "config.worktree",
				      "modules",
				      "worktrees",
				      "rebase-merge",
				      "objects/info/alternates",
				      "objects/info/http-alternates",
				      NULL };
static const char *const in_others[] = { ".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", NULL };

/* Is PATH equal to DIR or below it?  Case of ASCII letters does not count: a file system may fold it. */
static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n == 0 || (strncasecmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/'));
}

/* Does CH, at PATH relative to the tree or to a directory in it, change PROTECTED, an entry below it, or replace a parent? */
static bool touches(const struct change *ch, const char *path, const char *protected)
{
	bool stays_directory = S_ISDIR(ch->new.mode) && ch->kind != CHANGE_REPLACED;

	if (is_below(path, protected))
		return true;
	if (!*path || !is_below(protected, path))
		return false;
	/* New entries in a directory are no change of it; a mode that lets other users replace them is one. */
	return !stays_directory || (ch->old.mode && (ch->new.mode & ~ch->old.mode &(S_IWGRP | S_IWOTH)));
}

/* A tree: the base, or with C the one that its changes produce. */
struct tree {
	const struct changes *c;
	struct tree_at *base;
	const char *own; /* as in the header */
};

/* Is there NAME in the directory PATH, LEN bytes? */
static bool has(const struct tree *t, const char *path, size_t len, const char *name)
{
	_cleanup_free_ char *dir = strndup(path, len), *full = NULL;
	const struct change *ch;
	struct statx stx;

	full = !dir ? NULL : *dir ? path_join(dir, name) : strdup(name);
	/* Out of memory: refused. */
	if (!full)
		return true;
	ch = t->c ? changes_find(t->c, full) : NULL;
	return ch && ch->kind != CHANGE_UNKNOWN ? ch->new.mode != 0 : tree_at_stat(t->base, full, &stx) == 0;
}

/* git takes a directory for a repository by these entries; with commondir the other two are elsewhere. */
static bool is_repository(const struct tree *t, const char *path, size_t len)
{
	return has(t, path, len, "HEAD") && ((has(t, path, len, "objects") && has(t, path, len, "refs")) ||
					     has(t, path, len, "commondir"));
}

/* Is the last name of PATH, LEN bytes, that of a repository?  Then find_by_name has judged its entries. */
static bool is_named_git(const char *path, size_t len)
{
	return len >= 4 && strncasecmp(path + len - 4, ".git", 4) == 0 && (len == 4 || path[len - 5] == '/');
}

/* An entry that completes a repository: its configuration may have been applied before, as a file like any other. */
static bool completes(const struct tree *t, const char *path, size_t len, const char *name)
{
	static const char *const needed[] = { "HEAD", "objects", "refs", NULL };
	const struct tree before = { .base = t->base };

	for (size_t i = 0; needed[i]; i++)
		if (strcasecmp(name, needed[i]) == 0)
			return !is_named_git(path, len) && is_repository(t, path, len) &&
			       !is_repository(&before, path, len);
	return false;
}

static bool is_one_of(const char *path, const char *const *names)
{
	for (; *names; names++)
		if (is_below(path, *names))
			return true;
	return false;
}

/* Files of a linked worktree that git itself writes there, and that name no program and no other place. */
static bool is_own(const struct tree *t, const char *path)
{
	static const char *const names[] = { "HEAD",
					     "index",
					     "logs",
					     "refs",
					     "ORIG_HEAD",
					     "FETCH_HEAD",
					     "MERGE_HEAD",
					     "MERGE_MSG",
					     "MERGE_MODE",
					     "AUTO_MERGE",
					     "SQUASH_MSG",
					     "REVERT_HEAD",
					     "COMMIT_EDITMSG",
					     "CHERRY_PICK_HEAD",
					     NULL };
	size_t len = t->own ? strlen(t->own) : 0;

	return len > 0 && strncmp(path, t->own, len) == 0 && path[len] == '/' &&
	       is_one_of(path + len + 1, names);
}

/* Parts that all worktrees of a repository share.  The rest is the main worktree's: its HEAD, index and settings. */
static bool is_common(const char *path)
{
	static const char *const names[] = { "objects", "refs", "logs/refs", "packed-refs",
					     "shallow", "lfs",	NULL };

	return is_one_of(path, names);
}

/* In a tree that is a repository: deletions, too, as in .git of a worktree. */
static const char *find_in_root(const struct tree *t, const struct change *ch)
{
	for (size_t i = 0; in_git[i]; i++)
		if (touches(ch, ch->path, in_git[i]) && !is_own(t, ch->path))
			return in_git[i];
	/* Directories above an own or common entry change only with it. */
	if (!*t->own || is_own(t, ch->path) || is_common(ch->path) ||
	    (S_ISDIR(ch->new.mode) && S_ISDIR(ch->old.mode) && ch->new.mode == ch->old.mode))
		return NULL;
	return "main worktree";
}

/* In a repository that has another name than .git. */
static const char *find_by_content(const struct tree *t, const struct change *ch)
{
	for (const char *p = ch->path; p && ch->new.mode; p = strchr(p, '/')) {
		size_t len = (size_t)(p - ch->path);

		p += *p == '/';
		for (size_t i = 0; in_git[i]; i++)
			if (touches(ch, p, in_git[i]) && is_repository(t, ch->path, len) &&
			    !(len == 0 && is_own(t, ch->path)))
				return in_git[i];
		if (completes(t, ch->path, len, p))
			return "new repository";
	}
	return NULL;
}

static const char *find_in_git(const struct change *ch, const char *path)
{
	if (!is_below(path, ".git") && !is_below(".git", path))
		return NULL;
	for (size_t i = 0; in_git[i]; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), ".git/%s", in_git[i]);
		if (touches(ch, path, name))
			return in_git[i];
	}
	return NULL;
}

/* In every repository of the tree. */
static const char *find_by_name(const struct change *ch)
{
	for (const char *p = ch->path; p; p = strchr(p, '/')) {
		const char *found;

		p += *p == '/';
		/* Deleting a file of a nested repository refers to nothing. */
		if (p != ch->path && !ch->new.mode)
			return NULL;
		found = find_in_git(ch, p);
		if (found)
			return found;
		for (size_t i = 0; in_others[i]; i++)
			if (touches(ch, p, in_others[i]))
				return in_others[i];
	}
	return NULL;
}

const char *review_find_protected(const struct changes *c, struct tree_at *base, const struct change *ch,
				  char *const *protect, const char *own)
{
	const struct tree after = { .c = c, .base = base, .own = own };
	const char *found = NULL;
	/* Another directory than the worktree: whatever the profile protects there. */
	bool has_git = own;

	for (size_t i = 0; protect && protect[i]; i++) {
		if (touches(ch, ch->path, protect[i]))
			return protect[i];
		has_git = has_git || is_below(protect[i], ".git");
	}
	if (!has_git)
		return NULL;
	if (ch->alias)
		return ".git, under another name";
	found = own ? find_in_root(&after, ch) : NULL;
	if (!found)
		found = find_by_name(ch);
	return found ? found : find_by_content(&after, ch);
}

/* Is NAME beside CH, in the base, the very entry that CH changes? */
static int is_alias_of(struct tree_at *base, const struct change *ch, const char *name)
{
	const char *slash = strrchr(ch->path, '/'), *own = slash ? slash + 1 : ch->path;
	_cleanup_free_ char *dir = strndup(ch->path, (size_t)(own - ch->path)), *full = NULL;
	struct statx stx;

	if (strcmp(own, name) == 0 || !ch->old.mode)
		return 0;
	full = dir ? path_join(*dir ? dir : ".", name) : NULL;
	if (!full)
		return -ENOMEM;
	return tree_at_stat(base, *dir ? full : name, &stx) == 0 && stx.stx_ino == ch->old.ino &&
	       S_ISDIR(stx.stx_mode) == S_ISDIR(ch->old.mode);
}

/* Two names of one file are no alias: only directories, and files of .git, are compared. */
static int mark_alias(struct tree_at *base, struct change *ch, const struct change *parent, const char *own)
{
	const char *name = parent ? strrchr(parent->path, '/') : NULL;
	int r = S_ISDIR(ch->old.mode) ? is_alias_of(base, ch, ".git") : 0;

	name = name ? name + 1 : parent ? parent->path : "";
	if (own && !strchr(ch->path, '/'))
		name = ".git";
	for (size_t i = 0; in_git[i] && r == 0 && strcasecmp(name, ".git") == 0; i++)
		r = is_alias_of(base, ch, in_git[i]);
	ch->alias = r > 0;
	return r < 0 ? r : 0;
}

int review_mark_aliases(struct changes *c, struct tree_at *base, const char *own)
{
	int r = 0;

	/* A directory is listed before its entries. */
	for (size_t i = 0; i < c->n && r == 0; i++) {
		struct change *ch = &c->items[i];
		const char *slash = strrchr(ch->path, '/');
		_cleanup_free_ char *dir = strndup(ch->path, slash ? (size_t)(slash - ch->path) : 0);
		const struct change *parent = dir && *ch->path ? changes_find(c, dir) : NULL;

		if (!dir)
			return -ENOMEM;
		if (parent && parent->alias)
			ch->alias = true;
		else if (*ch->path)
			r = mark_alias(base, ch, parent, own);
	}
	return r;
}
