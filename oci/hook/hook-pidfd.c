/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "oci/hook/hook.h"

#define PROC_MAX 8192
#define STAT_START 22 /* field of /proc/PID/stat, counted from 1: ticks since boot */

static int read_proc(pid_t pid, const char *name, char **ret, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char path[48];
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	return fault_wrap(f, fd_read_all(fd, PROC_MAX, ret, &len, f), "'%s'", path);
}

static int start_time(pid_t pid, uint64_t *ret, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	char *at;
	int r;

	r = read_proc(pid, "stat", &text, f);
	if (r < 0)
		return r;
	at = strrchr(text, ')');
	for (int field = 2; at && field < STAT_START; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (at)
		at[strcspn(at, " \n")] = '\0';
	if (!at || str_to_u64(at, ret) < 0)
		return fault_set(f, EINVAL, "/proc/%d/stat has an unexpected format", (int)pid);
	return 0;
}

/* The last number of NSpid must be 1, and not the only one. */
static int require_first(pid_t pid, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	char *line, *last;
	int r;

	r = read_proc(pid, "status", &text, f);
	if (r < 0)
		return r;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return fault_set(f, ENOTSUP, "/proc/%d/status has no NSpid", (int)pid);
	line += strlen("\nNSpid:");
	line[strcspn(line, "\n")] = '\0';
	last = strrchr(line, '\t');
	if (!last || last == line || strcmp(last + 1, "1") != 0)
		return fault_set(f, ESRCH, "process %d is not the first one of a pid namespace", (int)pid);
	return 0;
}

int hook_pidfd_open(pid_t pid, bool first, int *ret, uint64_t *ret_start, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	uint64_t own = 0, runtime = 0;
	int r;

	if (pid <= 1)
		return fault_set(f, EINVAL,
				 "the container's state has no pid: this hook belongs to createRuntime");
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return fault_errno(f, errno, "the container's first process %d", (int)pid);
	/* With a user namespace it is no child of crun, so the parent pid proves nothing; the start time does. */
	r = start_time(pid, &own, f);
	if (r >= 0)
		r = start_time(getppid(), &runtime, f);
	if (r >= 0 && own < runtime)
		r = fault_set(f, ESRCH, "process %d is older than the runtime: not its container", (int)pid);
	if (r >= 0 && first)
		r = require_first(pid, f);
	/* The process of FD is still alive, so /proc/PID was its own all the time. */
	if (r >= 0 && syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0)
		r = fault_errno(f, errno, "the container's first process %d has exited", (int)pid);
	if (r < 0)
		return r;
	*ret = TAKE_FD(fd);
	*ret_start = own;
	return 0;
}
