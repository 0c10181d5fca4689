/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "base/tree-at.h"
#include "review/review-judge.h"
#include "review/review-protect.h"

#define ROUNDS_MAX 8 /* of checks of links: a refusal may change where another link leads */

bool review_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n == 0 || (strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/'));
}

int review_path(const char *text, char **ret, struct fault *f)
{
	_cleanup_free_ char *absolute = NULL, *whole = NULL;
	int r;

	if (text[0] == '/')
		return fault_set(f, EINVAL, "'%s' is absolute: name a path relative to the worktree", text);
	absolute = path_join("/", text);
	if (!absolute)
		return fault_errno(f, ENOMEM, "path");
	r = path_normalize(absolute, &whole, f);
	if (r < 0)
		return r;
	*ret = strdup(whole + 1);
	return *ret ? 0 : fault_errno(f, ENOMEM, "path");
}

static int refuse(struct change *ch, const char *fmt, ...) _printf_(2, 3);

/* The first reason is kept. */
static int refuse(struct change *ch, const char *fmt, ...)
{
	va_list ap;
	int r;

	if (ch->refused)
		return 0;
	va_start(ap, fmt);
	r = vasprintf(&ch->refused, fmt, ap);
	va_end(ap);
	if (r >= 0)
		return 0;
	ch->refused = NULL;
	return -ENOMEM;
}

static struct change *find_parent(const struct changes *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = NULL;

	if (!*path)
		return NULL;
	dir = slash ? strndup(path, (size_t)(slash - path)) : strdup("");
	return dir ? changes_find(c, dir) : NULL;
}

static bool is_wanted(const struct review_ask *ask, const char *path)
{
	if (!ask->paths)
		return true;
	for (size_t i = 0; ask->paths[i]; i++)
		if (review_is_below(path, ask->paths[i]))
			return true;
	return false;
}

static bool is_new_directory(const struct change *ch)
{
	return ch->kind == CHANGE_ADDED && S_ISDIR(ch->new.mode);
}

/* A new file needs its new parent directories. */
static void pick(struct changes *c, const struct review_ask *ask)
{
	for (size_t i = 0; i < c->n; i++) {
		struct change *ch = &c->items[i];

		ch->picked = ch->kind != CHANGE_SAME && is_wanted(ask, ch->path);
		if (!ch->picked || !ch->new.mode)
			continue;
		for (struct change *p = find_parent(c, ch->path); p && is_new_directory(p) && !p->picked;
		     p = find_parent(c, p->path))
			p->picked = true;
	}
}

static int require_found(const struct changes *c, const struct review_ask *ask, struct fault *f)
{
	for (size_t k = 0; ask->paths && ask->paths[k]; k++) {
		bool found = false;

		for (size_t i = 0; i < c->n && !found; i++)
			found = review_is_below(c->items[i].path, ask->paths[k]);
		if (!found)
			return fault_set(
				f, ENOENT,
				"'%s': the session changed nothing there ('custody diff SESSION --stat' "
				"lists its changes)",
				*ask->paths[k] ? ask->paths[k] : ".");
	}
	return 0;
}

static bool is_reserved(const char *path)
{
	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncasecmp(p, REVIEW_TEMP, strlen(REVIEW_TEMP)) == 0)
			return true;
	}
	return false;
}

static const char *name_type(mode_t mode)
{
	return S_ISCHR(mode) || S_ISBLK(mode) ? "is a device"
	       : S_ISFIFO(mode)		      ? "is a pipe"
	       : S_ISSOCK(mode)		      ? "is a socket"
					      : "has an unknown file type";
}

/* New directories inherit set-group-id from their parent, on the host as well. */
static bool inherits_group(const struct changes *c, const struct change *ch)
{
	const struct change *p = find_parent(c, ch->path);

	if ((ch->new.mode & 07000) != S_ISGID)
		return false;
	return S_ISDIR(ch->new.mode) && ((ch->old.mode & S_ISGID) || (p && (p->old.mode & S_ISGID)));
}

static int judge_new(const struct changes *c, struct change *ch)
{
	if (!S_ISREG(ch->new.mode) && !S_ISDIR(ch->new.mode) && !S_ISLNK(ch->new.mode))
		return refuse(ch, "%s", name_type(ch->new.mode));
	if ((ch->new.mode &(S_ISUID | S_ISGID)) && !S_ISLNK(ch->new.mode) && !inherits_group(c, ch))
		return refuse(ch, "is set-%s-id (mode %04o)", ch->new.mode &S_ISUID ? "user" : "group",
			      (unsigned int)ch->new.mode & 07777);
	if (ch->privileged)
		return refuse(ch, "has file capabilities, or an owner that is not an id of the session");
	return 0;
}

static int judge_one(const struct changes *c, struct tree_at *base, struct change *ch,
		     const struct review_ask *ask)
{
	const char *protected = review_find_protected(c, base, ch, ask->protect, ask->own);

	if (ch->kind == CHANGE_UNKNOWN)
		return refuse(ch, "%s: %s", ch->why, strerror(ch->error));
	if (protected)
		return refuse(ch, str_eq(protected, ch->path) ? "is protected" : "is protected: '%s'",
			      protected);
	if (is_reserved(ch->path))
		return refuse(ch, "has a name that is reserved for apply (" REVIEW_TEMP "*)");
	if (ch->new.mode && judge_new(c, ch) < 0)
		return -ENOMEM;
	return ch->conflict ? refuse(ch, "conflict: it %s the session began", ch->conflict) : 0;
}

static bool is_directory(const struct change *ch)
{
	return S_ISDIR(ch->new.mode) || S_ISDIR(ch->old.mode);
}

/* Everything below a directory that is another one than the session saw; directories are listed before their entries. */
static void mark_moved(struct changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct change *ch = &c->items[i];
		const struct change *p = find_parent(c, ch->path);

		ch->moved = (p && p->moved) || (ch->conflict && is_directory(ch));
	}
}

/* Refuses entries whose parent directory is refused, or has changed since the session began. */
static int judge_place(const struct changes *c, struct change *ch)
{
	const struct change *p = find_parent(c, ch->path);

	if (!p)
		return 0;
	/* The parent itself may be no change, and then has no refusal of its own. */
	if (p->conflict && is_directory(p))
		return refuse(ch, "conflict: '%s' %s the session began", *p->path ? p->path : ".",
			      p->conflict);
	if (p->moved)
		return refuse(ch, "is in '%s', which is refused", p->path);
	if (!ch->new.mode || (p->kind != CHANGE_ADDED && p->kind != CHANGE_REPLACED))
		return p->kind == CHANGE_UNKNOWN ? refuse(ch, "is in '%s', which is refused", p->path) : 0;
	if (p->refused)
		return refuse(ch, "is in '%s', which is refused", p->path);
	if (!p->picked)
		return refuse(
			ch,
			"is in '%s', which replaces another entry and is not selected: name that path too",
			p->path);
	return 0;
}

/* A directory is removed as a whole or not at all.  Each parent is visited once: an upper may be deep and have many refusals. */
static int refuse_above(struct changes *c, const struct change *ch)
{
	for (struct change *p = find_parent(c, ch->path); p && !p->holds_refused;
	     p = find_parent(c, p->path)) {
		p->holds_refused = true;
		if (p->picked && (p->kind == CHANGE_DELETED || p->kind == CHANGE_REPLACED) &&
		    refuse(p, "holds '%s', which is refused", ch->path) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int judge_link(struct changes *c, struct change *ch, int base, struct fault *f)
{
	const char *how = NULL;
	int r;

	if (ch->refused || !S_ISLNK(ch->new.mode) || ch->kind == CHANGE_DELETED)
		return 0;
	r = review_link(c, base, ch->path, ch->new.link, &how, f);
	if (r == 0 && how && refuse(ch, "is a link that %s", how) < 0)
		r = fault_errno(f, ENOMEM, "review");
	return r;
}

static size_t count_refused(const struct changes *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->items[i].refused != NULL;
	return n;
}

static int judge_links(struct changes *c, const struct review_ask *ask, bool too_many, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; i < c->n && r == 0; i++) {
		struct change *ch = &c->items[i];

		if (!ch->picked)
			continue;
		if (!too_many)
			r = judge_link(c, ch, ask->base, f);
		else if (S_ISLNK(ch->new.mode) &&
			 refuse(ch, "is a link, and too many links are refused to check where it leads") < 0)
			r = fault_errno(f, ENOMEM, "review");
	}
	return r;
}

static int judge_around(struct changes *c, struct fault *f)
{
	int r = 0;

	for (size_t i = c->n; i-- > 0 && r == 0;)
		if (c->items[i].refused && refuse_above(c, &c->items[i]) < 0)
			r = fault_errno(f, ENOMEM, "review");
	/* A directory that stays because of that blocks the entries that would replace it. */
	for (size_t i = 0; i < c->n && r == 0; i++)
		if (c->items[i].picked && judge_place(c, &c->items[i]) < 0)
			r = fault_errno(f, ENOMEM, "review");
	return r;
}

static int judge_each(struct changes *c, const struct review_ask *ask, struct fault *f)
{
	_cleanup_tree_at_ struct tree_at base = TREE_AT_NONE;
	int r = tree_at_init(&base, ask->base, f);

	if (r == 0 && review_mark_aliases(c, &base, ask->own) < 0)
		r = fault_errno(f, ENOMEM, "review");
	/* A directory is listed before its entries. */
	for (size_t i = 0; i < c->n && r == 0; i++)
		if (c->items[i].picked)
			r = judge_one(c, &base, &c->items[i], ask) < 0 || judge_place(c, &c->items[i]) < 0
				    ? fault_errno(f, ENOMEM, "review")
				    : 0;
	return r;
}

int review_judge(struct changes *c, const struct review_ask *ask, struct fault *f)
{
	int r = require_found(c, ask, f);
	size_t before;

	if (r < 0)
		return r;
	for (size_t i = 0; i < c->n; i++) {
		free(c->items[i].refused);
		c->items[i].refused = NULL;
		c->items[i].holds_refused = false;
	}
	pick(c, ask);
	mark_moved(c);
	r = judge_each(c, ask, f);
	/* A refused entry leaves the base's entry in place, so a link that was resolved through it may lead elsewhere: repeat. */
	for (unsigned int round = 0; r == 0; round++) {
		before = count_refused(c);
		r = judge_links(c, ask, round >= ROUNDS_MAX, f);
		if (r == 0)
			r = judge_around(c, f);
		if (count_refused(c) == before)
			break;
	}
	return r;
}
