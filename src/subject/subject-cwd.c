/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/path.h"
#include "base/str.h"
#include "state/sandbox-root.h"
#include "subject/subject-build.h"

/* Kernel interfaces, where a path may lead to files of another process. Init refuses links that lead there. */
static int require_place(const struct subject *s, struct fault *f)
{
	static const char *const trees[] = { "/proc", "/dev", "/sys" };

	for (size_t i = 0; i < ARRAY_SIZE(trees); i++)
		if (path_is_below(s->cwd, trees[i]))
			return fault_set(f, EPERM,
					 "working directory '%s' is below %s, where no command may start: "
					 "name one below '%s' (-w DIR, or process.cwd in the profile)",
					 s->cwd, trees[i], subject_work_target(s));
	return 0;
}

/* Detect early an error that would occur inside without an explanation. */
static int require_cwd(const struct subject *s, struct fault *f)
{
	const char *work = subject_work_target(s);
	_cleanup_free_ char *host = NULL;
	struct stat st;

	if (s->sandbox)
		return subject_require_sandbox_cwd(s, f);
	if (!s->worktree || !path_is_below(s->cwd, work) || strcmp(s->cwd, work) == 0)
		return 0;
	host = path_join(subject_tree_path(s), s->cwd + strlen(work) + (work[1] != '\0'));
	if (!host)
		return fault_errno(f, ENOMEM, "subject");
	if (stat(host, &st) == 0 && !S_ISDIR(st.st_mode))
		return fault_set(f, ENOTDIR, "working directory '%s': '%s' is not a directory", s->cwd, host);
	if (stat(host, &st) < 0 && errno == ENOENT)
		return fault_set(f, ENOENT, "working directory '%s' does not exist: mkdir -p '%s'", s->cwd,
				 host);
	return 0;
}

int subject_set_cwd(struct subject *s, const struct subject_request *rq, struct fault *f)
{
	const char *cwd = rq->workdir		      ? rq->workdir
			  : s->profile->process_cwd   ? s->profile->process_cwd
			  : rq->below && rq->below[0] ? rq->below
						      : subject_work_target(s);
	_cleanup_free_ char *joined = NULL;
	int r;

	if (cwd[0] != '/') {
		joined = path_join(subject_work_target(s), cwd);
		if (!joined)
			return fault_errno(f, ENOMEM, "subject");
		cwd = joined;
	}
	r = path_normalize(cwd, &s->cwd, f);
	if (r < 0 && s->sandbox)
		return fault_wrap(f, r, "working directory '%s' in sandbox root '%s' (%s)", cwd,
				  s->sandbox->name, s->sandbox->path);
	if (r < 0)
		return fault_wrap(f, r, "working directory '%s'", cwd);
	r = require_cwd(s, f);
	return r < 0 ? r : require_place(s, f);
}

/*
 * Without init the runtime changes to the directory while it still has descriptors of the host.  Only custody makes the
 * entries of the root above the mounts: a path that ends there, or at a mount, passes through no link of another author.
 * Nor do the entries of a tmpfs above such a mount, as /tmp above a worktree in it: it was empty.
 */
static bool has_foreign_part(const struct subject *s)
{
	const char *work = subject_work_target(s);
	bool ends_at_mount = str_eq(s->cwd, work) || subject_find_mount(s, s->cwd);

	for (size_t i = 0; i < s->n_mounts; i++)
		if (path_is_below(s->cwd, s->mounts[i].target) && !str_eq(s->cwd, s->mounts[i].target) &&
		    !(ends_at_mount && s->mounts[i].kind == SUBJECT_MOUNT_TMPFS))
			return true;
	for (size_t i = 0; i < s->n_links; i++)
		if (path_is_below(s->cwd, s->links[i].target))
			return true;
	return path_is_below(s->cwd, work) && !str_eq(s->cwd, work);
}

int subject_require_cwd(const struct subject *s, struct fault *f)
{
	int r = require_place(s, f);

	if (r < 0 || s->profile->process_init || !has_foreign_part(s))
		return r;
	return fault_set(
		f, EPERM,
		"working directory '%s': with process.init false it must be a mount point, because links "
		"below one could lead the runtime out of the container: name '%s', or set process.init to "
		"true",
		s->cwd, subject_work_target(s));
}
