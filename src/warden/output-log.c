/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/output-log.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"

static int make(const struct output_log *l)
{
	int fd = openat(l->dirfd, l->name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
			0600);

	return fd < 0 ? -errno : fd;
}

int output_log_open(struct output_log *l, int dirfd, const char *name, const char *old, uint64_t max,
		    struct fault *f)
{
	*l = (struct output_log){ .dirfd = dirfd, .fd = -EBADF, .name = name, .old = old, .max = max };
	l->fd = make(l);
	return l->fd < 0 ? fault_errno(f, -l->fd, "create '%s'", name) : 0;
}

static void remember(struct output_log *l, int error)
{
	if (l->error == 0)
		l->error = error;
}

/* If no new file can be created the current one is truncated: the size stays bounded. */
static void rotate(struct output_log *l)
{
	int fd = renameat(l->dirfd, l->name, l->dirfd, l->old) < 0 ? -errno : make(l);

	if (fd >= 0) {
		(void)fd_close(l->fd);
		l->fd = fd;
	} else {
		remember(l, -fd);
		if (ftruncate(l->fd, 0) < 0)
			remember(l, errno);
	}
	l->size = 0;
}

void output_log_add(struct output_log *l, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n;

		if (l->size >= l->max / 2)
			rotate(l);
		n = write(l->fd, bytes, len < l->max / 2 - l->size ? len : (size_t)(l->max / 2 - l->size));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			remember(l, n < 0 ? errno : EIO);
			return;
		}
		l->size += (uint64_t)n;
		bytes += n;
		len -= (size_t)n;
	}
}

void output_log_done(struct output_log *l)
{
	l->fd = fd_close(l->fd);
}
