/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/str.h"
#include "subject/subject-build.h"

/* A bind of PATH, below the worktree, onto itself. */
static int bind_itself(struct subject *s, const char *path, bool rw, struct fault *f)
{
	_cleanup_free_ char *source = path_join(s->worktree, path);
	_cleanup_free_ char *target = path_join(subject_work_target(s), path);
	const struct subject_mount *m;
	int r;

	if (!source || !target)
		return fault_errno(f, ENOMEM, "protect '%s'", path);
	/* Two protected paths may share parent directories, or a file in place of one. */
	m = subject_find_mount(s, target);
	if (m && (rw || (!m->rw && !m->is_dir && str_eq(m->source, source))))
		return 0;
	r = subject_add_bind(s, source, target, rw, true, f);
	/* As the worktree that it is a part of. */
	if (r >= 0 && rw && s->disposable)
		subject_find_mount(s, target)->disposable = true;
	return r;
}

/*
 * Read-only over the path itself, and writable over each parent directory: a mount point cannot be renamed,
 * but a renamed parent would move the protected path away and free its old name.
 */
static int protect(struct subject *s, const char *path, struct fault *f)
{
	for (size_t n = strcspn(path, "/");; n += 1 + strcspn(path + n + 1, "/")) {
		_cleanup_free_ char *part = strndup(path, n),
				    *host = part ? path_join(s->worktree, part) : NULL;
		bool last = path[n] == '\0';
		struct stat st;
		int r;

		if (!host)
			return fault_errno(f, ENOMEM, "protect '%s'", path);
		if (lstat(host, &st) < 0 && errno != ENOENT)
			return fault_errno(f, errno, "protect '%s'", host);
		if (lstat(host, &st) < 0) {
			/* A missing path needs no protection, unless it could be created beside others. */
			if (!last)
				return 0;
			return fault_set(
				f, ENOENT,
				"protected path '%s' does not exist and could be created inside: create it "
				"first, or remove '%s' from the profile's workspace.protect",
				host, path);
		}
		if (S_ISLNK(st.st_mode))
			return fault_set(f, ELOOP,
					 "protected path '%s' is a symbolic link: replace it by its target, "
					 "or remove '%s' from the profile's workspace.protect",
					 host, path);
		/*
		 * A file where a directory is expected (.git of a linked worktree) names another directory.
		 */
		last |= !S_ISDIR(st.st_mode);
		r = bind_itself(s, part, !last, f);
		if (r < 0 || last)
			return r;
	}
}

int subject_pin_parents(struct subject *s, const char *path, struct fault *f)
{
	int r = 0;

	if (s->profile->workspace != PROFILE_WORKSPACE_RW)
		return 0;
	for (size_t n = strcspn(path, "/"); r >= 0; n += 1 + strcspn(path + n + 1, "/")) {
		_cleanup_free_ char *part = strndup(path, n),
				    *host = part ? path_join(s->worktree, part) : NULL;
		struct stat st;

		if (!host)
			return fault_errno(f, ENOMEM, "hide '%s'", path);
		/* Nothing is hidden there. */
		if (lstat(host, &st) < 0)
			return 0;
		if (S_ISLNK(st.st_mode))
			return fault_set(f, ELOOP,
					 "hidden path '%s' is a symbolic link, which the command could "
					 "remove: name its target in the profile's filesystem.hide",
					 host);
		if (!path[n] || !S_ISDIR(st.st_mode))
			return 0;
		r = bind_itself(s, part, true, f);
	}
	return r;
}

int subject_build_protect(struct subject *s, struct fault *f)
{
	char *const *paths = s->profile->workspace_protect;
	int r = 0;

	/* In other modes the tree itself is not written. */
	if (s->profile->workspace != PROFILE_WORKSPACE_RW)
		return 0;
	for (size_t i = 0; r >= 0 && paths && paths[i]; i++)
		r = protect(s, paths[i], f);
	return r;
}
