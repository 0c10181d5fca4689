/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/*
 * FN in a child without capabilities: modes of files stop it, also where the tests run as root.  Its failure is ours.
 */
static inline void tap_unprivileged(void (*fn)(void))
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
	int status = -1;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (syscall(SYS_capset, &header, none) < 0)
			_exit(2);
		fn();
		(void)fflush(stdout);
		_exit(!tap_ok);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		tap_ok = false;
}
