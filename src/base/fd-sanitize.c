/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* Without 0-2 the next opened file would become stdin, stdout or stderr. */
static int fill_standard(struct fault *f)
{
	for (int fd = 0; fd < 3; fd++) {
		int opened;

		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/*
		 * The lowest free number is FD, because all below exist. No CLOEXEC: executed programs expect
		 * 0-2.
		 */
		opened = open("/dev/null", O_RDWR);
		if (opened < 0)
			return fault_errno(f, errno, "open '/dev/null' as descriptor %d", fd);
		if (opened != fd) {
			fd_close(opened);
			return fault_set(f, EBADF, "'/dev/null' became descriptor %d, not %d", opened, fd);
		}
	}
	return 0;
}

/* For kernels before 5.11 and seccomp filters without close_range. */
static int mark_each(int first, struct fault *f)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return fault_errno(f, errno, "open '/proc/self/fd'");
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		uint64_t fd;
		int flags;

		if (str_to_u64(entry->d_name, &fd) < 0 || fd < (uint64_t)first)
			continue;
		flags = fcntl((int)fd, F_GETFD);
		if (flags < 0 || fcntl((int)fd, F_SETFD, flags | FD_CLOEXEC) < 0) {
			r = fault_errno(f, errno, "mark descriptor %d close-on-exec", (int)fd);
			break;
		}
	}
	if (r == 0 && errno)
		r = fault_errno(f, errno, "read '/proc/self/fd'");
	(void)closedir(dir);
	return r;
}

int fd_mark_cloexec(int first, struct fault *f)
{
	if (syscall(SYS_close_range, (unsigned int)first, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return 0;
	return mark_each(first, f);
}

int fd_sanitize(struct fault *f)
{
	int r = fill_standard(f);

	return r < 0 ? r : fd_mark_cloexec(3, f);
}
