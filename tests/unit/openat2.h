/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

/* Also false under valgrind, which answers ENOSYS: what must be resolved with links in it is refused there. */
static inline bool has_openat2(void)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof(how));

	if (fd < 0)
		printf("# no openat2 here, not tried\n");
	return fd >= 0;
}
