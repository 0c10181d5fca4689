/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/path.h"
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

/* Equal, or one above the other: write access there would change data that a later run trusts. */
static int require_apart(const struct sandbox_root *sandbox, const char *source, const char *dir,
			 struct fault *f)
{
	_cleanup_free_ char *real = dir ? resolve(dir) : NULL;

	if (!dir)
		return 0;
	if (!real)
		return fault_errno(f, ENOMEM, "'%s'", dir);
	if ((!path_is_below(real, source) && !path_is_below(source, real)) || is_lent(sandbox, source, real))
		return 0;
	return fault_set(f, EPERM,
			 "'%s' would be writable, but it contains or is in custody's own '%s': choose "
			 "another directory, or move custody's (CUSTODY_ROOT)",
			 source, real);
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

static int require_source(const struct sandbox_root *sandbox, const char *source, const struct dirs *d,
			  struct fault *f)
{
	/* All of BASE: the other lane's state is trusted as well. */
	const char *const own[] = { d->config, d->profiles_admin,   d->profiles_user, d->base,
				    d->run,    d->profiles_shipped, d->libexec,	      d->data };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(own); i++)
		r = require_apart(sandbox, source, own[i], f);
	return r;
}

int subject_require_apart(const struct subject *s, const struct dirs *d, struct fault *f)
{
	int r = 0;

	if (s->worktree && s->profile->workspace == PROFILE_WORKSPACE_RW)
		r = require_source(s->sandbox, s->worktree, d, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND && s->mounts[i].rw)
			r = require_source(s->sandbox, s->mounts[i].source, d, f);
	return r;
}

/* A path of the host, and its path inside. */
struct sight {
	const struct sandbox_root *sandbox; /* of the subject; NULL: none */
	const char *source, *target;
};

/* SOURCE is visible at TARGET inside: it must contain nothing of DIR. */
static int hide(const struct sight *w, const char *dir, char ***ret, struct fault *f)
{
	_cleanup_free_ char *real = dir ? resolve(dir) : NULL, *inside = NULL;
	const char *source = w->source, *target = w->target;

	if (!dir)
		return 0;
	if (!real)
		return fault_errno(f, ENOMEM, "'%s'", dir);
	if (is_lent(w->sandbox, source, real))
		return 0;
	if (path_is_below(source, real))
		return fault_set(
			f, EPERM,
			"'%s' is in custody's own '%s', which no sandbox may see: choose another directory",
			source, real);
	if (!path_is_below(real, source))
		return 0;
	inside = path_join(target, real + strlen(source) + (source[1] != '\0'));
	if (!inside)
		return fault_errno(f, ENOMEM, "'%s'", dir);
	if (strv_has(*ret, inside))
		return 0;
	return strv_append(ret, inside) < 0 ? fault_errno(f, ENOMEM, "'%s'", dir) : 0;
}

static int hide_all(const struct sight *w, const struct dirs *d, char ***ret, struct fault *f)
{
	_cleanup_free_ char *evidence = NULL;
	int r = 0;

	for (int lane = LANE_SANDBOX; r == 0 && lane <= LANE_PROD; lane++) {
		_cleanup_free_ char *one = path_join(d->base, lane_name((enum lane)lane));

		r = one ? hide(w, one, ret, f) : fault_errno(f, ENOMEM, "'%s'", d->base);
	}
	/* Data of other runs; a user may inspect it with a sandbox whose worktree is there. */
	evidence = path_join(d->base, "forensics");
	if (r == 0 && !evidence)
		r = fault_errno(f, ENOMEM, "'%s'", d->base);
	if (r == 0 && !path_is_below(w->source, evidence))
		r = hide(w, evidence, ret, f);
	if (r == 0)
		r = hide(w, d->run, ret, f);
	if (r == 0)
		r = hide(w, d->config, ret, f);
	/* With CUSTODY_ROOT and as root it contains everything that was hidden above. */
	if (r == 0 && !str_eq(d->data, d->base))
		r = hide(w, d->data, ret, f);
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
	int r;

	if (s->profile->fs_hide && !list)
		return fault_errno(f, ENOMEM, "subject");
	r = hide_by_source(s, &list, f);
	if (r < 0)
		return r;
	if (s->worktree && s->profile->workspace != PROFILE_WORKSPACE_TMPFS)
		r = hide_all(&(struct sight){ s->sandbox, s->worktree, subject_work_target(s) }, d, &list, f);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		if (s->mounts[i].kind == SUBJECT_MOUNT_BIND)
			r = hide_all(&(struct sight){ s->sandbox, s->mounts[i].source, s->mounts[i].target },
				     d, &list, f);
	for (size_t i = 0; r == 0 && i < s->n_operands; i++)
		r = require_shown(s, s->operands[i].path, list, f);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(list);
	return 0;
}
