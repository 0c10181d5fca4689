/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/write-access.h"
#include "config/config-impl.h"
#include "profile/profile-file.h"

/* A user who could change or replace the file would have the admin's power. */
static int require_safe(int fd, const char *path, const struct stat *st, struct fault *f)
{
	if (st->st_uid != 0 && st->st_uid != geteuid() && !profile_owner_is_unmapped(st->st_uid))
		return fault_set(f, EPERM, "'%s' belongs to uid %lu, neither to root nor to you: chown it",
				 path, (unsigned long)st->st_uid);
	if (!(S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX)) && write_access_is_shared(fd, st))
		return fault_set(f, EPERM, "'%s' is writable by other users: chmod go-w '%s'", path, path);
	return 0;
}

/* -ENOENT without a text: the file does not exist. */
static int open_dir(const char *path, int *ret, struct fault *f)
{
	_cleanup_free_ char *dir = strndup(path, (size_t)(strrchr(path, '/') - path));
	_cleanup_close_ int fd = -EBADF;
	struct stat st, up;
	int r;

	if (!dir)
		return fault_errno(f, ENOMEM, "'%s'", path);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0 || fstat(fd, &st) < 0 || fstatat(fd, "..", &up, 0) < 0)
		return fault_errno(f, errno, "open '%s'", dir);
	/*
	 * A directory above that is writable by the user's own group is common; one writable by all users is
	 * refused.
	 */
	if ((up.st_mode & S_IWOTH) && !(up.st_mode & S_ISVTX))
		return fault_set(f, EPERM, "the directory above '%s' is writable by all users: chmod o-w it",
				 dir);
	r = require_safe(fd, dir, &st, f);
	if (r < 0)
		return r;
	*ret = TAKE_FD(fd);
	return 0;
}

static int open_failed(const char *path, int error, struct fault *f)
{
	if (error == ELOOP)
		return fault_set(f, ELOOP,
				 "'%s' is a symbolic link, which is not followed: replace it by the file",
				 path);
	return fault_errno(f, error, "open '%s'", path);
}

int config_file_read(const char *path, char **ret_text, size_t *ret_len, struct fault *f)
{
	_cleanup_close_ int dir = -EBADF, fd = -EBADF;
	struct stat st;
	int r;

	*ret_text = NULL;
	r = open_dir(path, &dir, f);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	/* O_NONBLOCK: a FIFO under this name must not block before its type is checked. */
	fd = openat(dir, strrchr(path, '/') + 1, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return open_failed(path, errno, f);
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EINVAL, "'%s' is not a regular file", path);
	r = require_safe(fd, path, &st, f);
	if (r < 0)
		return r;
	r = fd_read_all(fd, CONFIG_SIZE_MAX, ret_text, ret_len, f);
	return fault_wrap(f, r, "'%s'", path);
}
