/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

/* openat2 returns EAGAIN if a concurrent rename made ".." unsafe; a hostile process can rename forever. */
#define AGAIN_MAX 32

static int sys_openat2(int dirfd, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)flags | O_CLOEXEC,
		.mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0,
		.resolve = resolve,
	};

	for (int i = 0;; i++) {
		long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));

		if (fd >= 0)
			return (int)fd;
		if ((errno != EAGAIN && errno != EINTR) || i == AGAIN_MAX)
			return -errno;
	}
}

/*
 * Does R, a result of openat2, mean that the call is not available? A filter that returns EPERM also refuses
 * a harmless call.
 */
static bool is_missing(int r)
{
	int probe;

	if (r != -EPERM)
		return r == -ENOSYS;
	probe = sys_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0, 0);
	fd_close(probe);
	return probe == -EPERM;
}

/* One step down, never through a link. A component that is not a directory fails at the next step. */
static int step(int fd, const char *name)
{
	_cleanup_close_ int next = -EBADF;
	struct stat st;

	if (str_eq(name, ".."))
		return -EXDEV;
	next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0 || fstat(next, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	return TAKE_FD(next);
}

static int last_step(int fd, const char *name, int flags, mode_t mode)
{
	_cleanup_close_ int last = -EBADF;
	struct stat st;

	if (str_eq(name, ".."))
		return -EXDEV;
	last = openat(fd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	if (last < 0)
		return -errno;
	/* O_PATH with O_NOFOLLOW opens the link itself, which is refused unless the caller passed both. */
	if (!(flags & O_NOFOLLOW) && (fstat(last, &st) < 0 || S_ISLNK(st.st_mode)))
		return -ELOOP;
	return TAKE_FD(last);
}

/* BENEATH without openat2: stricter, because every link and every ".." is refused. */
static int walk(int rootfd, const char *path, int flags, mode_t mode)
{
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_close_ int held = -EBADF;
	char *name = copy, *slash;

	if (!copy)
		return -ENOMEM;
	if (!*path)
		return -ENOENT;
	if (*path == '/')
		return -EXDEV;
	while ((slash = strchr(name, '/'))) {
		char *rest = slash + strspn(slash, "/");
		int next;

		*slash = '\0';
		if (!*rest) {
			/* A trailing slash requires a directory. */
			if (flags & O_CREAT)
				return -EISDIR;
			flags |= O_DIRECTORY;
			break;
		}
		next = step(held < 0 ? rootfd : held, name);
		if (next < 0)
			return next;
		fd_close(held);
		held = next;
		name = rest;
	}
	return last_step(held < 0 ? rootfd : held, name, flags, mode);
}

int path_open_beneath(int rootfd, const char *path, int flags, mode_t mode, struct fault *f)
{
	int r;

	r = sys_openat2(rootfd, path, flags, mode, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
	if (is_missing(r))
		r = walk(rootfd, path, flags, mode);
	if (r < 0)
		return fault_errno(f, -r, "open '%s'", path);
	return r;
}

int path_open_in_root(int rootfd, const char *path, int flags, mode_t mode, struct fault *f)
{
	int r;

	r = sys_openat2(rootfd, path, flags, mode, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (is_missing(r))
		return fault_set(f, ENOSYS,
				 "open '%s': openat2 is not available: it requires Linux 5.6 and a seccomp "
				 "filter that allows it",
				 path);
	if (r < 0)
		return fault_errno(f, -r, "open '%s'", path);
	return r;
}
