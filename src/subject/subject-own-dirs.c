/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "state/home-dir.h"
#include "state/sandbox-root.h"
#include "subject/own-dirs.h"
#include "subject/subject.h"

/* custody's own directories are compared by name and by place: another mount may show them under another name. */
struct own {
	const struct sandbox_root *sandbox; /* of the subject; NULL: none */
	const struct home_dir *home;	    /* the same */
	struct own_dirs *dirs;
};

/*
 * Parts of a sandbox root, and a kept home, may be visible and writable, although they are in DIR, which is custody's own.
 */
static bool is_lent(const struct own *o, const char *source, const char *dir)
{
	if (o->home && home_dir_is_visible(o->home, source) && path_is_below(o->home->path, dir))
		return true;
	return o->sandbox && sandbox_root_is_visible(o->sandbox, source) &&
	       path_is_below(o->sandbox->path, dir);
}

/* 1: SOURCE is equal to DIR, or one is above the other, through any mount; 0: apart. */
static int overlaps(const struct own *o, const char *source, const struct own_dir *dir, struct fault *f)
{
	_cleanup_place_ struct place shown = { 0 };
	int r = own_dirs_place(o->dirs, source, &shown, f);

	for (size_t i = 0; r == 0 && i < dir->n_places; i++)
		r = place_is_below(&dir->places[i], &shown) || place_is_below(&shown, &dir->places[i]);
	return r;
}

/* Write access there would change data that a later run trusts. */
static int require_apart(const struct own *o, const char *source, enum own_dir_name name, struct fault *f)
{
	const struct own_dir *dir;
	bool named;
	int r = own_dirs_get(o->dirs, name, &dir, f);

	if (r < 0 || !dir || is_lent(o, source, dir->path))
		return r;
	named = path_is_below(dir->path, source) || path_is_below(source, dir->path);
	r = named ? 1 : overlaps(o, source, dir, f);
	if (r <= 0)
		return r;
	return fault_set(f, EPERM,
			 "'%s' would be writable, but it contains or is in custody's own '%s'%s: choose "
			 "another directory, or move custody's (CUSTODY_ROOT)",
			 source, dir->path, named ? "" : ", which another mount shows there");
}

bool subject_is_own_dir(const char *path, struct own_dirs *own)
{
	static const enum own_dir_name names[] = {
		OWN_DIR_CONFIG, OWN_DIR_BASE,	 OWN_DIR_RUN,
		OWN_DIR_DATA,	OWN_DIR_LIBEXEC, OWN_DIR_PROFILES_SHIPPED
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *real;

		if (own_dirs_path(own, names[i], &real, NULL) < 0 || (real && path_is_below(path, real)))
			return true;
	}
	return false;
}

static int require_source(const struct own *o, const char *source, struct fault *f)
{
	/* All of BASE: the other lane's state is trusted as well. */
	static const enum own_dir_name names[] = { OWN_DIR_CONFIG,	  OWN_DIR_PROFILES_ADMIN,
						   OWN_DIR_PROFILES_USER, OWN_DIR_BASE,
						   OWN_DIR_RUN,		  OWN_DIR_PROFILES_SHIPPED,
						   OWN_DIR_LIBEXEC,	  OWN_DIR_DATA };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++)
		r = require_apart(o, source, names[i], f);
	return r;
}

int subject_require_apart(const struct subject *s, struct own_dirs *own, struct fault *f)
{
	const struct own o = { .sandbox = s->sandbox, .home = s->kept_home, .dirs = own };
	int r = 0;

	if (s->worktree && s->profile->workspace == PROFILE_WORKSPACE_RW)
		r = require_source(&o, s->worktree, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND && s->mounts[i].rw)
			r = require_source(&o, s->mounts[i].source, f);
	return r;
}

static int require_bundle(const struct own *o, const char *source, const struct own_dir *dir, struct fault *f)
{
	int r = path_is_below(dir->path, source) || path_is_below(source, dir->path)
			? 1
			: overlaps(o, source, dir, f);

	if (r <= 0)
		return r;
	return fault_set(f, EPERM,
			 "the command may write to '%s' and could change its own bundle '%s', which the "
			 "runtime trusts: write the bundle to another directory (custody bundle --output)",
			 source, dir->path);
}

int subject_require_bundle(const struct subject *s, const char *dir, struct fault *f)
{
	_cleanup_own_dirs_ struct own_dirs own;
	_cleanup_own_dir_ struct own_dir bundle = { 0 };
	_cleanup_free_ char *real = own_dirs_resolve(dir);
	const struct own o = { .sandbox = s->sandbox, .home = s->kept_home, .dirs = &own };
	int r;

	own_dirs_init(&own, NULL);
	r = real ? own_dirs_places(&own, real, &bundle, f) : fault_errno(f, ENOMEM, "'%s'", dir);
	bundle.path = TAKE_PTR(real);
	if (r == 0 && s->worktree && s->profile->workspace == PROFILE_WORKSPACE_RW)
		r = require_bundle(&o, s->worktree, &bundle, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND && s->mounts[i].rw)
			r = require_bundle(&o, s->mounts[i].source, &bundle, f);
	return r;
}

/* A path of the host, and its path inside. */
struct sight {
	const struct own *own;
	const char *source, *target;
	struct place place; /* of the source */
};

static int refuse_own(const struct sight *w, const char *dir, struct fault *f)
{
	return fault_set(f, EPERM,
			 "'%s' is in custody's own '%s', which no sandbox may see: choose another directory",
			 w->source, dir);
}

/* Hides the entry REST below the target. */
static int hide_rest(const struct sight *w, const char *rest, char ***ret, struct fault *f)
{
	_cleanup_free_ char *inside = *rest ? path_join(w->target, rest) : strdup(w->target);

	if (!inside)
		return fault_errno(f, ENOMEM, "'%s'", w->target);
	if (strv_has(*ret, inside))
		return 0;
	return strv_append(ret, inside) < 0 ? fault_errno(f, ENOMEM, "'%s'", inside) : 0;
}

/* PATH without its beginning PARENT, and without the slash between them. */
static const char *rest_of(const char *path, const char *parent)
{
	const char *rest = path + (parent[1] ? strlen(parent) : 0);

	return rest + (*rest == '/');
}

static int hide_places(const struct sight *w, const struct own_dir *dir, char ***ret, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < dir->n_places; i++) {
		if (place_is_below(&w->place, &dir->places[i]))
			return refuse_own(w, dir->path, f);
		if (place_is_below(&dir->places[i], &w->place))
			r = hide_rest(w, rest_of(dir->places[i].path, w->place.path), ret, f);
	}
	return r;
}

/* SOURCE is visible at TARGET inside: it must contain nothing of the directory NAME. */
static int hide(const struct sight *w, enum own_dir_name name, char ***ret, struct fault *f)
{
	const struct own_dir *dir;
	int r = own_dirs_get(w->own->dirs, name, &dir, f);

	if (r < 0 || !dir || is_lent(w->own, w->source, dir->path))
		return r;
	/* Evidence is data of other runs; a user may inspect it with a sandbox whose worktree is there. */
	if (name == OWN_DIR_EVIDENCE &&
	    (path_is_below(w->source, dir->path) || place_is_below(&w->place, &dir->places[0])))
		return 0;
	if (path_is_below(w->source, dir->path))
		return refuse_own(w, dir->path, f);
	if (path_is_below(dir->path, w->source))
		r = hide_rest(w, rest_of(dir->path, w->source), ret, f);
	return r < 0 ? r : hide_places(w, dir, ret, f);
}

static int hide_all(struct sight *w, char ***ret, struct fault *f)
{
	static const enum own_dir_name names[] = { OWN_DIR_SANDBOX, OWN_DIR_PROD,   OWN_DIR_EVIDENCE,
						   OWN_DIR_RUN,	    OWN_DIR_CONFIG, OWN_DIR_DATA };
	const struct dirs *d = w->own->dirs->dirs;
	int r = own_dirs_place(w->own->dirs, w->source, &w->place, f);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++)
		/* With CUSTODY_ROOT and as root DATA contains everything that was hidden before. */
		if (names[i] != OWN_DIR_DATA || !str_eq(d->data, d->base))
			r = hide(w, names[i], ret, f);
	place_done(&w->place);
	return r;
}

/* A sealed copy is visible wherever its original is. */
static int require_shown(const struct subject *s, const char *operand, char **hidden, struct fault *f)
{
	_cleanup_free_ char *inside = path_join(subject_work_target(s), operand);

	if (!inside)
		return fault_errno(f, ENOMEM, "operand");
	for (char **h = hidden; h && *h; h++)
		if (path_is_below(inside, *h))
			return fault_set(f, EPERM, "'%s' cannot be an operand: it is hidden in the sandbox",
					 operand);
	return 0;
}

/* A profile names a file of the worktree by ${cwd} or its path outside, wherever the tree is inside. */
static int hide_by_source(const struct subject *s, char ***ret, struct fault *f)
{
	for (char **h = s->profile->fs_hide; s->worktree && h && *h; h++) {
		_cleanup_free_ char *inside = NULL;
		size_t len = strlen(s->worktree);

		if (!path_is_below(*h, s->worktree) || strlen(*h) <= len)
			continue;
		inside = path_join(subject_work_target(s), *h + len + (s->worktree[1] != '\0'));
		if (!inside || (!strv_has(*ret, inside) && strv_append(ret, inside) < 0))
			return fault_errno(f, ENOMEM, "hidden paths");
	}
	return 0;
}

int subject_hide_own(const struct subject *s, struct own_dirs *own, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **list = strv_copy(s->profile->fs_hide);
	const struct own o = { .sandbox = s->sandbox, .home = s->kept_home, .dirs = own };
	int r = 0;

	if (s->profile->fs_hide && !list)
		r = fault_errno(f, ENOMEM, "subject");
	if (r == 0)
		r = hide_by_source(s, &list, f);
	if (r == 0 && s->worktree && s->profile->workspace != PROFILE_WORKSPACE_TMPFS)
		r = hide_all(
			&(struct sight){ .own = &o, .source = s->worktree, .target = subject_work_target(s) },
			&list, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind != SUBJECT_MOUNT_TMPFS)
			r = hide_all(&(struct sight){ .own = &o,
						      .source = s->mounts[i].source,
						      .target = s->mounts[i].target },
				     &list, f);
	for (size_t i = 0; r == 0 && i < s->n_operands; i++)
		r = require_shown(s, s->operands[i].path, list, f);
	for (size_t i = 0; r == 0 && i < s->n_operands; i++)
		r = require_shown(s, s->operands[i].path, s->secrets, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(list);
	return 0;
}
