/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "subject/subject-build.h"

/*
 * By default the worktree has the same path inside and outside, because many files hold it: virtualenvs, CMake caches,
 * debug information, notes of agents.  It is /work where that path has another meaning inside.
 */

/* Trees that are the system's inside, or custody's. */
static const char *const system_trees[] = { "/proc",  "/sys",	"/dev",	   "/run",  "/var/run",
					    "/etc",   "/usr",	"/bin",	   "/sbin", "/lib",
					    "/lib32", "/lib64", "/libx32", "/boot", NULL };

static bool is_related(const char *a, const char *b)
{
	return path_is_below(a, b) || path_is_below(b, a);
}

static bool is_system(const char *path)
{
	for (size_t i = 0; system_trees[i]; i++)
		if (path_is_below(path, system_trees[i]))
			return true;
	/* Private and writable inside, whatever the worktree is. */
	return str_eq(path, "/") || str_eq(path, "/tmp") || str_eq(path, "/var/tmp");
}

/* Does the profile's root directory have an entry of its own where the parents of PATH would be? */
static bool is_in_root_dir(const struct subject *s, const char *path)
{
	_cleanup_free_ char *name = strndup(path + 1, strcspn(path + 1, "/")), *entry = NULL;
	struct stat st;

	if (s->profile->root != PROFILE_ROOT_DIR || !s->profile->root_path)
		return false;
	entry = name ? path_join(s->profile->root_path, name) : NULL;
	return !entry || lstat(entry, &st) == 0;
}

static bool is_below_fixed(const char *path)
{
	return path_is_below(path, PROFILE_TARGET_FIXED) && !str_eq(path, PROFILE_TARGET_FIXED);
}

/* Entries are SOURCE[:TARGET[:MODE]]. */
static bool has_fixed_target(char *const *binds)
{
	for (; binds && *binds; binds++) {
		const char *colon = strchr(*binds, ':'), *target = colon ? colon + 1 : *binds;
		_cleanup_free_ char *path = strndup(target, strcspn(target, ":"));

		if (!path || is_below_fixed(path))
			return true;
	}
	return false;
}

/* Paths inside that name /work hide, mount or enter a part of the worktree: they must not lose their meaning. */
static bool names_fixed(const struct profile *p, const struct subject_request *rq)
{
	const char *cwd = rq->workdir ? rq->workdir : p->process_cwd;

	if (cwd && cwd[0] == '/' && path_is_below(cwd, PROFILE_TARGET_FIXED))
		return true;
	for (char **h = p->fs_hide; h && *h; h++)
		if (path_is_below(*h, PROFILE_TARGET_FIXED))
			return true;
	for (size_t i = 0; i < p->n_fs_tmpfs; i++)
		if (is_below_fixed(p->fs_tmpfs[i].path))
			return true;
	return has_fixed_target(p->fs_ro) || has_fixed_target(p->fs_rw) || has_fixed_target(rq->volumes);
}

static bool keeps_own_path(const struct subject *s, const struct subject_request *rq)
{
	if (!s->worktree || s->sandbox || is_system(s->worktree) || is_in_root_dir(s, s->worktree))
		return false;
	/* The home inside is private and in memory, or the caller's name for another directory. */
	if (s->home && strcmp(s->home, "/") != 0 && is_related(s->worktree, s->home))
		return false;
	return !(rq->own && subject_is_own_dir(s->worktree, rq->own)) && !names_fixed(s->profile, rq);
}

int subject_set_target(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	const char *target = s->profile->workspace_target ? s->profile->workspace_target
			     : keeps_own_path(s, rq)	  ? s->worktree
							  : PROFILE_TARGET_FIXED;

	s->target = strdup(target);
	return s->target ? 0 : fault_errno(f, ENOMEM, "subject");
}
