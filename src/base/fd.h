/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"

/* Close FD unless negative, keep errno, return the "empty" value: fd = fd_close(fd). */
int fd_close(int fd);

static inline void fd_closep(int *fd)
{
	fd_close(*fd);
}
#define _cleanup_close_ _cleanup_(fd_closep)

static inline int fd_take(int *fd)
{
	int taken = *fd;

	*fd = -EBADF;
	return taken;
}
#define TAKE_FD(fd) fd_take(&(fd))

/*
 * Fails unless FD is a regular file, owned by UID and not writable by other users. Checks the open file,
 * never a path, so the result still holds when the caller reads.
 */
int fd_require_private(int fd, uid_t uid, struct fault *f) _must_check_;

/* Whole file, NUL-terminated, at most MAX bytes (more: EFBIG).  Grows as it reads: a small file costs little.
 */
int fd_read_all(int fd, size_t max, char **ret, size_t *ret_len, struct fault *f) _must_check_;
/* The same of a regular file at its start, with one call if it has at most SIZE bytes: such a file ends where a read is short. */
int fd_read_file(int fd, size_t size, size_t max, char **ret, size_t *ret_len, struct fault *f) _must_check_;
int fd_write_all(int fd, const void *bytes, size_t len, struct fault *f) _must_check_;

/* Durable and atomic: O_EXCL temp name, write, fsync, renameat over NAME, fsync of the directory. */
int fd_replace_file(int dirfd, const char *name, const void *bytes, size_t len, mode_t mode,
		    struct fault *f) _must_check_;

/* The descriptors from FIRST. */
int fd_mark_cloexec(int first, struct fault *f) _must_check_;
/* Program start: descriptors 0-2 exist (else /dev/null is opened there), the others get CLOEXEC. */
int fd_sanitize(struct fault *f) _must_check_;
