/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/evidence-target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

void evidence_target_done(struct evidence_target *t)
{
	t->fd = fd_close(t->fd);
	free(t->path);
	sandbox_root_free(t->root);
	*t = EVIDENCE_TARGET_NONE;
}

/* "a/b/" -> "a/" and "b"; "b" -> "" and "b".  Heap, both. */
static int split(const char *path, char **ret_parent, char **ret_name, struct fault *f)
{
	size_t len = strlen(path), at;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (at = len; at > 0 && path[at - 1] != '/'; at--)
		;
	*ret_parent = strndup(path, at);
	*ret_name = at < len ? strndup(path + at, len - at) : strdup(".");
	return *ret_parent && *ret_name ? 0 : fault_errno(f, ENOMEM, "restore");
}

/* One name below an open directory: a concurrent rename cannot redirect the second call. */
static int open_name(int parent, const char *name, const char *path, struct fault *f)
{
	int fd;

	if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
		return fault_errno(f, errno, "make '%s'", path);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", path) : fd;
}

/* Sandbox roots are reached by --sandbox only: then the root is locked and the path stays in it. */
static int require_elsewhere(const struct dirs *d, int fd, const char *path, struct fault *f)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)], real[4096];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof(real) - 1);
	if (n < 0)
		return fault_errno(f, errno, "find the path of '%s'", path);
	real[n] = '\0';
	for (int lane = 0; lane < _LANE_MAX; lane++) {
		_cleanup_free_ char *dir = NULL, *roots = NULL;

		if (asprintf(&dir, "%s/%s/sandbox", d->data, lane_name((enum lane)lane)) < 0)
			return fault_errno(f, ENOMEM, "restore");
		roots = realpath(dir, NULL);
		if (roots && path_is_below(real, roots))
			return fault_set(f, EXDEV,
					 "'%s' is in the sandbox roots of '%s': use --sandbox NAME, and a "
					 "directory "
					 "relative to its workspace",
					 path, roots);
	}
	return 0;
}

static int open_plain(const struct dirs *d, const char *path, int *ret, struct fault *f)
{
	_cleanup_free_ char *parent = NULL, *name = NULL;
	_cleanup_close_ int up = -EBADF, fd = -EBADF;
	int r = split(path, &parent, &name, f);

	if (r < 0)
		return r;
	up = open(*parent ? parent : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (up < 0)
		return fault_errno(f, errno, "make '%s'", path);
	r = require_elsewhere(d, up, path, f);
	if (r < 0)
		return r;
	fd = open_name(up, name, path, f);
	if (fd < 0)
		return fd;
	/* The last name can be "." or "..". */
	r = require_elsewhere(d, fd, path, f);
	if (r < 0)
		return r;
	*ret = TAKE_FD(fd);
	return 0;
}

static int open_inside(const struct sandbox_root *root, const char *path, int *ret, struct fault *f)
{
	_cleanup_free_ char *parent = NULL, *name = NULL;
	_cleanup_close_ int up = -EBADF;
	int r, fd;

	r = split(path, &parent, &name, f);
	if (r < 0)
		return r;
	if (str_eq(name, ".."))
		return fault_set(
			f, EXDEV,
			"'%s' is, or may be, outside of sandbox root '%s' (%s): name a directory in it", path,
			root->name, root->path);
	up = sandbox_root_resolve(root, root->workspace_fd, parent, O_PATH | O_DIRECTORY, f);
	if (up < 0)
		return fault_wrap(f, up, "restore to '%s'", path);
	fd = open_name(up, name, path, f);
	if (fd == -ELOOP || fd == -ENOTDIR)
		return fault_set(f, EXDEV,
				 "'%s' in sandbox root '%s' (%s) is a symbolic link or not a directory: name "
				 "a new one",
				 path, root->name, root->path);
	if (fd < 0)
		return fault_wrap(f, fd, "sandbox root '%s' (%s)", root->name, root->path);
	*ret = fd;
	return 0;
}

int evidence_target_open(const struct dirs *d, const char *sandbox, const char *path,
			 struct evidence_target *ret, struct fault *f)
{
	_cleanup_evidence_target_ struct evidence_target t = EVIDENCE_TARGET_NONE;
	int r;

	if (!*path)
		return fault_set(f, EINVAL, "the target is empty: name a directory");
	if (sandbox) {
		r = sandbox_root_open(d, sandbox, SANDBOX_RUN, &t.root, f);
		if (r == 0)
			r = open_inside(t.root, path, &t.fd, f);
	} else {
		r = open_plain(d, path, &t.fd, f);
	}
	if (r < 0)
		return r;
	t.path = sandbox ? path_join(t.root->workspace, path) : strdup(path);
	if (!t.path)
		return fault_errno(f, ENOMEM, "restore");
	*ret = t;
	t = EVIDENCE_TARGET_NONE;
	return 0;
}
