/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/sandbox-root.h"
#include "subject/subject-build.h"

int subject_require_sandbox(const struct subject *s, struct fault *f)
{
	struct stat st;

	if (!s->sandbox)
		return 0;
	if (fstat(s->sandbox->workspace_fd, &st) < 0)
		return fault_errno(f, errno, "worktree '%s'", s->worktree);
	if (st.st_dev == s->worktree_file.device && st.st_ino == s->worktree_file.inode &&
	    str_eq(s->worktree, s->sandbox->workspace))
		return 0;
	return fault_set(f, EXDEV, "'%s' was replaced while sandbox root '%s' (%s) was opened: try again",
			 s->worktree, s->sandbox->name, s->sandbox->path);
}

static bool has_tmp(const struct subject *s)
{
	const struct subject_mount *m = subject_find_mount(s, "/tmp");

	return m && m->source && str_eq(m->source, s->sandbox->tmp);
}

/* Only if the worktree is writable as well: the other modes guarantee that no host file is written. */
static bool wants_tmp(const struct subject *s)
{
	return s->sandbox && s->profile->workspace == PROFILE_WORKSPACE_RW &&
	       !subject_find_mount(s, "/tmp") && !path_is_below("/tmp", subject_work_target(s));
}

int subject_add_sandbox_tmp(struct subject *s, struct fault *f)
{
	int r;

	if (!wants_tmp(s))
		return 0;
	r = subject_add_bind(s, s->sandbox->tmp, "/tmp", true, true, f);
	if (r == 0)
		subject_find_mount(s, "/tmp")->disposable = s->sandbox->disposable;
	return r;
}

int subject_require_sandbox_cwd(const struct subject *s, struct fault *f)
{
	const struct sandbox_root *r = s->sandbox;
	const char *work = subject_work_target(s);
	bool in_work = path_is_below(s->cwd, work), in_tmp = path_is_below(s->cwd, "/tmp") && wants_tmp(s);
	const char *rest = s->cwd + strlen(in_work ? work : in_tmp ? "/tmp" : "");
	_cleanup_close_ int fd = -EBADF;

	if (!in_work && !in_tmp)
		return fault_set(
			f, EXDEV,
			"working directory '%s' is not in sandbox root '%s' (%s): name one relative to its "
			"workspace, which is '%s' inside",
			s->cwd, r->name, r->path, work);
	fd = sandbox_root_resolve(r, in_work ? r->workspace_fd : r->tmp_fd, rest + (*rest == '/'),
				  O_PATH | O_DIRECTORY, f);
	return fd < 0 ? fault_wrap(f, fd, "working directory '%s'", s->cwd) : 0;
}

/* A path may be missing; an existing one must not lead out of the root. */
static int require_inside(const struct subject *s, const char *target, const char *what, struct fault *f)
{
	const char *work = subject_work_target(s);
	_cleanup_fault_ struct fault why = { 0 };
	_cleanup_close_ int fd = -EBADF;

	if (str_eq(target, work) || !path_is_below(target, work))
		return 0;
	fd = sandbox_root_resolve(s->sandbox, s->sandbox->workspace_fd, target + strlen(work) + 1, O_PATH,
				  &why);
	if (fd >= 0 || fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	return fault_set(f, -fd, "%s '%s': %s", what, target, fault_text(&why));
}

/*
 * A bind of a directory includes the mounts below it, each as a bind of its own.  In a sandbox root that
 * would lead out of it.  The workspace or tmp itself may be a mount: the admin may have placed the root
 * there.
 */
static int require_no_mount(const struct subject *s, const struct subject_mount *m, struct fault *f)
{
	const struct sandbox_root *r = s->sandbox;
	struct statx stx;

	if (m->kind != SUBJECT_MOUNT_BIND || !sandbox_root_is_visible(r, m->source) ||
	    str_eq(m->source, r->workspace) || str_eq(m->source, r->tmp))
		return 0;
	if (statx(AT_FDCWD, m->source, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &stx) < 0)
		return fault_errno(f, errno, "stat '%s'", m->source);
	if (!(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return 0;
	return fault_set(f, EXDEV, "'%s' in sandbox root '%s' (%s) is a mount point: umount it first",
			 m->source, r->name, r->path);
}

int subject_require_sandbox_targets(const struct subject *s, struct fault *f)
{
	int r = 0;

	if (!s->sandbox)
		return 0;
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++) {
		r = require_no_mount(s, &s->mounts[i], f);
		if (r == 0)
			r = require_inside(s, s->mounts[i].target, "mount target", f);
	}
	for (char **h = s->profile->fs_hide; r == 0 && h && *h; h++)
		r = require_inside(s, *h, "filesystem.hide", f);
	/* Another mount may have been placed on /tmp since the working directory was checked. */
	if (r == 0 && !path_is_below(s->cwd, subject_work_target(s)) && !has_tmp(s))
		r = fault_set(f, EXDEV, "working directory '%s' is not in sandbox root '%s' (%s)", s->cwd,
			      s->sandbox->name, s->sandbox->path);
	return r;
}

/*
 * The part of PATH after the workspace, however the path is spelled; NULL if it does not pass through it.
 * Entries there belong to earlier runs and must not be followed as the rest may be.
 */
static const char *behind_workspace(const struct sandbox_root *r, const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat want, st;

	if (!copy || fstat(r->workspace_fd, &want) < 0)
		return path; /* an absolute path, which is refused */
	for (char *slash = copy; *slash;) {
		slash += strcspn(slash + 1, "/") + 1;
		char kept = *slash;

		*slash = '\0';
		if (stat(copy, &st) == 0 && st.st_dev == want.st_dev && st.st_ino == want.st_ino)
			return path + (slash - copy) + (kept == '/');
		*slash = kept;
	}
	return NULL;
}

int subject_pin_sandbox(struct subject *s, const char *source, bool is_volume, char **ret, int *ret_fd,
			struct fault *f)
{
	struct sandbox_root *r = s->sandbox;
	const char *path;
	int fd;

	if (!r)
		return 0;
	/*
	 * A profile names the visible paths of the host; in the workspace its paths get the same checks as
	 * those of the command line.
	 */
	path = is_volume ? source : behind_workspace(r, source);
	if (!path)
		return 0;
	fd = sandbox_root_pin(r, path, ret, f);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 1;
}
