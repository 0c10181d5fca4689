/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "subject/subject-prove-root.h"

/* The container as its init sees it. */
struct inside {
	int root, cwd;
};

static int open_proc(pid_t pid, const char *name, int *ret, struct fault *f)
{
	char path[sizeof("/proc//root") + 3 * sizeof(pid)];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	*ret = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *ret < 0 ? fault_errno(f, errno, "open '%s'", path) : 0;
}

static int require_same(const struct sandbox_root *r, const struct stat *want, int fd, const char *what,
			struct fault *f)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", what);
	if (st.st_dev == want->st_dev && st.st_ino == want->st_ino)
		return 0;
	return fault_set(
		f, EXDEV,
		"'%s' was replaced while the run was prepared, and may lead out of sandbox root '%s' (%s)",
		what, r->name, r->path);
}

static int require_mounted(const struct sandbox_root *r, const struct inside *in, const char *target,
			   const struct stat *want, const char *source, struct fault *f)
{
	_cleanup_close_ int fd = path_open_in_root(in->root, target, O_PATH | O_CLOEXEC, 0, f);

	return fd < 0 ? fd : require_same(r, want, fd, source, f);
}

/* An overlay shows an inode of its own: there the lower was compared when it was cloned. */
static int require_worktree(const struct sandbox_root *r, const struct subject *s, const struct inside *in,
			    struct fault *f)
{
	struct stat st;

	if (s->profile->workspace == PROFILE_WORKSPACE_OVERLAY ||
	    s->profile->workspace == PROFILE_WORKSPACE_RO)
		return 0;
	if (fstat(r->workspace_fd, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", r->workspace);
	return require_mounted(r, in, subject_work_target(s), &st, r->workspace, f);
}

static int require_binds(const struct sandbox_root *r, const struct subject *s, const struct inside *in,
			 struct fault *f)
{
	int e = 0;

	for (size_t i = 0; e == 0 && i < s->n_mounts; i++) {
		const struct subject_mount *m = &s->mounts[i];
		const struct stat want = { .st_dev = m->file.device, .st_ino = m->file.inode };

		if (m->kind == SUBJECT_MOUNT_BIND && !subject_mount_is_tree(s, m) &&
		    sandbox_root_is_visible(r, m->source))
			e = require_mounted(r, in, m->target, &want, m->source, f);
	}
	return e;
}

/* The working directory of the command is init's: found again from the workspace, as visible inside. */
static int require_cwd(const struct sandbox_root *r, const struct subject *s, const struct inside *in,
		       struct fault *f)
{
	const char *work = subject_work_target(s), *from = path_is_below(s->cwd, work) ? work : "/tmp";
	_cleanup_close_ int tree = -EBADF, fd = -EBADF;
	const char *rest = s->cwd + strlen(from);
	struct stat st;

	tree = path_open_in_root(in->root, from, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, f);
	if (tree < 0)
		return tree;
	fd = sandbox_root_resolve(r, tree, rest + (*rest == '/'), O_PATH | O_DIRECTORY, f);
	if (fd < 0)
		return fault_wrap(f, fd, "working directory '%s'", s->cwd);
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", s->cwd);
	return require_same(r, &st, in->cwd, s->cwd, f);
}

int subject_prove_root(const struct sandbox_root *r, const struct subject *s, pid_t pid, struct fault *f)
{
	_cleanup_close_ int root = -EBADF, cwd = -EBADF;
	struct inside in;
	int e;

	e = open_proc(pid, "root", &root, f);
	if (e == 0)
		e = open_proc(pid, "cwd", &cwd, f);
	if (e < 0)
		return e;
	in = (struct inside){ .root = root, .cwd = cwd };
	e = require_worktree(r, s, &in, f);
	if (e == 0)
		e = require_binds(r, s, &in, f);
	return e < 0 ? e : require_cwd(r, s, &in, f);
}
