/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Children of tests: one that is killed at a chosen system call, one that has mounts of its own. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

/* In the child: its calls are counted from here. */
static inline bool child_be_traced(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
}

/*
 * In its parent: kills PID when it is about to make its Nth call.  1: killed; 0: it ended well before; negative: it
 * failed.
 */
static inline int child_kill_at(pid_t pid, unsigned int n)
{
	unsigned int stops = 0;
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	while (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status)) {
		/* Each call stops twice, before and after. */
		if (++stops < 2 * n - 1)
			continue;
		(void)kill(pid, SIGKILL);
		return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? 1 : -1;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static inline bool child_write(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* As root or, through a user namespace, as any user. */
static inline bool child_own_mounts(void)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWNS) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			return false;
		(void)snprintf(map, sizeof(map), "0 %u 1", (unsigned int)uid);
		if (!child_write("/proc/self/setgroups", "deny") || !child_write("/proc/self/uid_map", map))
			return false;
		(void)snprintf(map, sizeof(map), "0 %u 1", (unsigned int)gid);
		if (!child_write("/proc/self/gid_map", map))
			return false;
	}
	return mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0;
}
