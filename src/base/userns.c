/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

static int write_text(const char *path, const char *text, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	return fault_wrap(f, fd_write_all(fd, text, strlen(text), f), "'%s'", path);
}

static int write_map(const char *path, unsigned int id, struct fault *f)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%u %u 1\n", id, id);
	return write_text(path, text, f);
}

int userns_enter(struct fault *f)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	int r;

	if (unshare(CLONE_NEWUSER) < 0)
		return fault_errno(f, errno, "create a user namespace");
	/* Without CAP_SETGID a group can be mapped only after setgroups is denied. */
	r = write_text("/proc/self/setgroups", "deny", f);
	if (r == 0)
		r = write_map("/proc/self/uid_map", uid, f);
	return r < 0 ? r : write_map("/proc/self/gid_map", gid, f);
}
