/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "review/apply-impl.h"

#define MARK "applying"

int apply_mark(int dir, struct fault *f)
{
	_cleanup_close_ int fd = openat(dir, MARK, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fsync(fd) < 0 || fsync(dir) < 0)
		return fault_errno(f, errno, "write '" MARK "' of the session");
	return 0;
}

void apply_unmark(int dir)
{
	(void)unlinkat(dir, MARK, 0);
}

bool apply_is_marked(int dir)
{
	struct stat st;

	return fstatat(dir, MARK, &st, AT_SYMLINK_NOFOLLOW) == 0;
}
