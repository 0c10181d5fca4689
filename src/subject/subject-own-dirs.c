/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
#include "base/place.h"
#include "base/str.h"
#include "state/dirs.h"
#include "state/sandbox-root.h"
#include "subject/subject.h"

/* DIR resolved as far as it exists; custody creates the rest later, at this path.  NULL on ENOMEM. */
static char *resolve(const char *dir)
{
	_cleanup_free_ char *head = strdup(dir), *real = NULL;

	while (head) {
		char *slash;

		real = realpath(head, NULL);
		if (real || errno == ENOMEM)
			break;
		slash = strrchr(head, '/');
		if (!slash || slash == head)
			return strdup(dir);
		*slash = '\0';
	}
	if (!head || !real)
		return NULL;
	return dir[strlen(head)] ? path_join(real, dir + strlen(head) + 1) : TAKE_PTR(real);
}

/*
 * Parts of a sandbox root may be visible and writable, although the root is in DIR, which is custody's own.
 */
static bool is_lent(const struct sandbox_root *sandbox, const char *source, const char *dir)
{
	return sandbox && sandbox_root_is_visible(sandbox, source) && path_is_below(sandbox->path, dir);
}

/* custody's own directories are compared by name and by place: another mount may show them under another name. */
struct own {
	const struct sandbox_root *sandbox; /* of the subject; NULL: none */
	struct place_table mounts;
};

static void own_done(struct own *o)
{
	place_table_done(&o->mounts);
}

static int own_init(struct own *o, const struct subject *s, struct fault *f)
{
	*o = (struct own){ .sandbox = s->sandbox };
	return place_table_load(&o->mounts, f);
}

/* The I-th place of DIR: its own, then those of mounts below it.  1: no further one. */
static int nth_place(const struct own *o, const char *dir, size_t i, struct place *ret, struct fault *f)
{
	if (i == 0)
		return place_find(&o->mounts, dir, ret, f);
	for (size_t m = 0; m < o->mounts.n_mounts; m++) {
		const struct place_mount *mount = &o->mounts.mounts[m];

		if (!path_is_below(mount->point, dir) || --i > 0)
			continue;
		*ret = (struct place){ .fs = mount->fs, .path = strdup(mount->root) };
		return ret->path ? 0 : fault_errno(f, ENOMEM, "'%s'", dir);
	}
	return 1;
}

/* 1: equal, or one above the other, through any mount; 0: apart. */
static int overlaps(const struct own *o, const char *source, const char *dir, struct fault *f)
{
	_cleanup_place_ struct place shown = { 0 };
	int r = place_find(&o->mounts, source, &shown, f);

	for (size_t i = 0; r == 0; i++) {
		_cleanup_place_ struct place own = { 0 };

		r = nth_place(o, dir, i, &own, f);
		if (r == 0 && (place_is_below(&own, &shown) || place_is_below(&shown, &own)))
			return 1;
	}
	return r < 0 ? r : 0;
}

/* Write access there would change data that a later run trusts. */
static int require_apart(const struct own *o, const char *source, const char *dir, struct fault *f)
{
	_cleanup_free_ char *real = dir ? resolve(dir) : NULL;
	bool named;
	int r;

	if (!dir)
		return 0;
	if (!real)
		return fault_errno(f, ENOMEM, "'%s'", dir);
	if (is_lent(o->sandbox, source, real))
		return 0;
	named = path_is_below(real, source) || path_is_below(source, real);
	r = named ? 1 : overlaps(o, source, real, f);
	if (r <= 0)
		return r;
	return fault_set(f, EPERM,
			 "'%s' would be writable, but it contains or is in custody's own '%s'%s: choose "
			 "another directory, or move custody's (CUSTODY_ROOT)",
			 source, real, named ? "" : ", which another mount shows there");
}

bool subject_is_own_dir(const char *path, const struct dirs *d)
{
	const char *const own[] = { d->config, d->base, d->run, d->data, d->libexec, d->profiles_shipped };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		_cleanup_free_ char *real = own[i] ? resolve(own[i]) : NULL;

		if (own[i] && (!real || path_is_below(path, real)))
			return true;
	}
	return false;
}

static int require_source(const struct own *o, const char *source, const struct dirs *d, struct fault *f)
{
	/* All of BASE: the other lane's state is trusted as well. */
	const char *const own[] = { d->config, d->profiles_admin,   d->profiles_user, d->base,
				    d->run,    d->profiles_shipped, d->libexec,	      d->data };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(own); i++)
		r = require_apart(o, source, own[i], f);
	return r;
}

int subject_require_apart(const struct subject *s, const struct dirs *d, struct fault *f)
{
	_cleanup_(own_done) struct own o;
	int r = own_init(&o, s, f);

	if (r == 0 && s->worktree && s->profile->workspace == PROFILE_WORKSPACE_RW)
		r = require_source(&o, s->worktree, d, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND && s->mounts[i].rw)
			r = require_source(&o, s->mounts[i].source, d, f);
	return r;
}

static int require_bundle(const struct own *o, const char *source, const char *dir, struct fault *f)
{
	int r = path_is_below(dir, source) || path_is_below(source, dir) ? 1 : overlaps(o, source, dir, f);

	if (r <= 0)
		return r;
	return fault_set(f, EPERM,
			 "the command may write to '%s' and could change its own bundle '%s', which the "
			 "runtime trusts: write the bundle to another directory (custody bundle --output)",
			 source, dir);
}

int subject_require_bundle(const struct subject *s, const char *dir, struct fault *f)
{
	_cleanup_(own_done) struct own o;
	_cleanup_free_ char *real = resolve(dir);
	int r = own_init(&o, s, f);

	if (r == 0 && !real)
		r = fault_errno(f, ENOMEM, "'%s'", dir);
	if (r == 0 && s->worktree && s->profile->workspace == PROFILE_WORKSPACE_RW)
		r = require_bundle(&o, s->worktree, real, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND && s->mounts[i].rw)
			r = require_bundle(&o, s->mounts[i].source, real, f);
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

static int hide_places(const struct sight *w, const char *real, char ***ret, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0; i++) {
		_cleanup_place_ struct place own = { 0 };

		r = nth_place(w->own, real, i, &own, f);
		if (r != 0)
			break;
		if (place_is_below(&w->place, &own))
			return refuse_own(w, real, f);
		if (place_is_below(&own, &w->place))
			r = hide_rest(w, rest_of(own.path, w->place.path), ret, f);
	}
	return r < 0 ? r : 0;
}

/* SOURCE is visible at TARGET inside: it must contain nothing of DIR. */
static int hide(const struct sight *w, const char *dir, char ***ret, struct fault *f)
{
	_cleanup_free_ char *real = dir ? resolve(dir) : NULL;
	int r = 0;

	if (!dir)
		return 0;
	if (!real)
		return fault_errno(f, ENOMEM, "'%s'", dir);
	if (is_lent(w->own->sandbox, w->source, real))
		return 0;
	if (path_is_below(w->source, real))
		return refuse_own(w, real, f);
	if (path_is_below(real, w->source))
		r = hide_rest(w, rest_of(real, w->source), ret, f);
	return r < 0 ? r : hide_places(w, real, ret, f);
}

/* Evidence is data of other runs; a user may inspect it with a sandbox whose worktree is there. */
static int hide_evidence(const struct sight *w, const struct dirs *d, char ***ret, struct fault *f)
{
	_cleanup_free_ char *evidence = path_join(d->base, "forensics"),
			    *real = evidence ? resolve(evidence) : NULL;
	_cleanup_place_ struct place own = { 0 };
	int r;

	if (!real)
		return fault_errno(f, ENOMEM, "'%s'", d->base);
	r = place_find(&w->own->mounts, real, &own, f);
	if (r < 0 || path_is_below(w->source, real) || place_is_below(&w->place, &own))
		return r;
	return hide(w, evidence, ret, f);
}

static int hide_all(struct sight *w, const struct dirs *d, char ***ret, struct fault *f)
{
	int r = place_find(&w->own->mounts, w->source, &w->place, f);

	for (int lane = LANE_SANDBOX; r == 0 && lane <= LANE_PROD; lane++) {
		_cleanup_free_ char *one = path_join(d->base, lane_name((enum lane)lane));

		r = one ? hide(w, one, ret, f) : fault_errno(f, ENOMEM, "'%s'", d->base);
	}
	if (r == 0)
		r = hide_evidence(w, d, ret, f);
	if (r == 0)
		r = hide(w, d->run, ret, f);
	if (r == 0)
		r = hide(w, d->config, ret, f);
	/* With CUSTODY_ROOT and as root it contains everything that was hidden above. */
	if (r == 0 && !str_eq(d->data, d->base))
		r = hide(w, d->data, ret, f);
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

int subject_hide_own(const struct subject *s, const struct dirs *d, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **list = strv_copy(s->profile->fs_hide);
	_cleanup_(own_done) struct own o;
	int r = own_init(&o, s, f);

	if (r == 0 && s->profile->fs_hide && !list)
		r = fault_errno(f, ENOMEM, "subject");
	if (r == 0)
		r = hide_by_source(s, &list, f);
	if (r == 0 && s->worktree && s->profile->workspace != PROFILE_WORKSPACE_TMPFS)
		r = hide_all(
			&(struct sight){ .own = &o, .source = s->worktree, .target = subject_work_target(s) },
			d, &list, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND)
			r = hide_all(&(struct sight){ .own = &o,
						      .source = s->mounts[i].source,
						      .target = s->mounts[i].target },
				     d, &list, f);
	for (size_t i = 0; r == 0 && i < s->n_operands; i++)
		r = require_shown(s, s->operands[i].path, list, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(list);
	return 0;
}
