/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session-process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "base/str.h"

#define EXIT_WAIT_MS 5000
#define FILE_MAX 64

int session_process_note(const char *path, pid_t pid, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	uint64_t start = 0;
	char text[FILE_MAX];
	int r = process_start_time(pid, &start);

	if (r < 0)
		return fault_errno(f, -r, "start time of process %d", (int)pid);
	(void)snprintf(text, sizeof(text), "%d %" PRIu64, (int)pid, start);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_errno(f, errno, "create '%s'", path);
	return fault_wrap(f, fd_write_all(fd, text, strlen(text), f), "'%s'", path);
}

static int read_note(int run_fd, uint64_t *ret_pid, uint64_t *ret_start)
{
	_cleanup_close_ int fd =
		openat(run_fd, SESSION_PROCESS, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	char *space;
	size_t len;
	int r;

	if (fd < 0)
		return -errno;
	r = fd_read_all(fd, FILE_MAX, &text, &len, NULL);
	if (r < 0)
		return r;
	space = strchr(text, ' ');
	if (!space)
		return -EINVAL;
	*space = '\0';
	r = str_to_u64(text, ret_pid);
	if (r == 0)
		r = str_to_u64(space + 1, ret_start);
	return r == 0 && (*ret_pid < 2 || *ret_pid > INT_MAX) ? -EINVAL : r;
}

void session_process_kill(int run_fd)
{
	_cleanup_close_ int pidfd = -EBADF;
	uint64_t pid, start, now;

	if (read_note(run_fd, &pid, &start) < 0)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	/* After the descriptor exists: then the start time is that of the process behind it. */
	if (pidfd < 0 || process_start_time((pid_t)pid, &now) != 1 || now != start)
		return;
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	(void)poll(&(struct pollfd){ .fd = pidfd, .events = POLLIN }, 1, EXIT_WAIT_MS);
}
