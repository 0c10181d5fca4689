/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define TEMP_NAME_SIZE sizeof(".new-0123456789abcdef")
#define TEMP_TRIES 16

/* A random name that cannot be planted; O_EXCL also refuses a symlink there. */
static int open_temp(int dirfd, char name[TEMP_NAME_SIZE], struct fault *f)
{
	for (int i = 0; i < TEMP_TRIES; i++) {
		uint64_t random;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return fault_errno(f, errno ? errno : EIO, "getrandom");
		(void)snprintf(name, TEMP_NAME_SIZE, ".new-%016llx", (unsigned long long)random);
		fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return fault_errno(f, errno, "create temporary file");
	}
	return fault_set(f, EEXIST, "create temporary file: no free name in %d tries", TEMP_TRIES);
}

static int fill(int fd, const void *bytes, size_t len, mode_t mode, struct fault *f)
{
	int r;

	r = fd_write_all(fd, bytes, len, f);
	if (r < 0)
		return r;
	/* fchmod, not open(): the mode must not depend on the caller's umask. */
	if (fchmod(fd, mode) < 0)
		return fault_errno(f, errno, "fchmod");
	if (fsync(fd) < 0)
		return fault_errno(f, errno, "fsync");
	return 0;
}

static int replace(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char temp[TEMP_NAME_SIZE];
	int r;

	fd = open_temp(dirfd, temp, f);
	if (fd < 0)
		return fd;
	r = fill(fd, bytes, len, mode, f);
	/*
	 * Network file systems report a full disk only here; it must be known before the old file is
	 * replaced.
	 */
	if (r == 0 && close(TAKE_FD(fd)) < 0)
		r = fault_errno(f, errno, "close");
	if (r == 0 && renameat(dirfd, temp, dirfd, name) < 0)
		r = fault_errno(f, errno, "rename");
	if (r < 0)
		(void)unlinkat(dirfd, temp, 0);
	return r;
}

int fd_replace_file(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode, struct fault *f)
{
	_cleanup_close_ int dir = -EBADF;
	int r;

	if (!*name || strchr(name, '/'))
		return fault_set(f, EINVAL, "replace '%s': not a name in a directory", name);

	/* Own descriptor: DIRFD may be AT_FDCWD or O_PATH, and neither can be synced. */
	dir = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return fault_errno(f, errno, "replace '%s': open its directory", name);
	r = replace(dir, name, bytes, len, mode, f);
	if (r < 0)
		return fault_wrap(f, r, "replace '%s'", name);
	if (fsync(dir) < 0)
		return fault_errno(f, errno, "replace '%s': fsync of its directory", name);
	return 0;
}
