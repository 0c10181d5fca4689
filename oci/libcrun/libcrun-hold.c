/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/libcrun-hold.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

static struct {
	hold_fn fn;
	void *arg;
	int go[2]; /* a byte, or end of file: exit */
	pid_t pid;
	bool waited;
	int status;
} hold = { .go = { -EBADF, -EBADF } };

void hold_set(hold_fn fn, void *arg)
{
	hold.fn = fn;
	hold.arg = arg;
}

int hold_begin(struct fault *f)
{
	if (!hold.fn)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, hold.go) < 0)
		return fault_errno(f, errno, "socket of the process");
	return 0;
}

/* In the process: it has joined the container, and executes the program when this returns. */
static void wait_for_go(void)
{
	int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	char byte;
	ssize_t n;

	/* Processes of the container see it, and its memory is that of the host's program. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	hold.go[1] = fd_close(hold.go[1]);
	do
		n = read(hold.go[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	/* As a signal its end cannot be taken for a status of the program. */
	if (n != 1) {
		(void)raise(SIGKILL);
		_exit(EXIT_FAILURE);
	}
	hold.go[0] = fd_close(hold.go[0]);
	/* libcrun writes files of /proc/self, which root owns otherwise. */
	(void)prctl(PR_SET_DUMPABLE, dumpable == 1, 0, 0, 0);
}

/* It is alive as long as it holds its end, so PIDFD, which was opened before, is its own. */
static int open_process(pid_t pid, struct fault *f)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = hold.go[1] };

	if (fd < 0)
		return fault_errno(f, errno, "the process %d", (int)pid);
	if (poll(&p, 1, 0) < 0 || (p.revents & (POLLERR | POLLHUP)))
		return fault_set(f, ESRCH, "the process %d exited before its program was executed", (int)pid);
	return TAKE_FD(fd);
}

static int allow(pid_t pid, struct fault *f)
{
	_cleanup_close_ int pidfd = open_process(pid, f);
	int r = pidfd < 0 ? pidfd : hold.fn(hold.arg, pid, pidfd, f);

	if (r < 0)
		return r;
	/* One that died meanwhile has its end recorded like any other. */
	(void)send(hold.go[1], "g", 1, MSG_NOSIGNAL);
	return 0;
}

int hold_end(pid_t pid, struct fault *f)
{
	int r;

	if (!hold.fn)
		return 0;
	if (pid == 0) {
		wait_for_go();
		return 0;
	}
	hold.go[0] = fd_close(hold.go[0]);
	hold.pid = pid;
	r = pid < 0 ? 0 : allow(pid, f);
	/* Without the byte the process kills itself. */
	hold.go[1] = fd_close(hold.go[1]);
	return r;
}

void hold_waited(pid_t pid, int status)
{
	if (pid <= 0 || pid != hold.pid || WIFSTOPPED(status) || WIFCONTINUED(status))
		return;
	hold.waited = true;
	hold.status = status;
}

bool hold_status(int *ret)
{
	if (hold.waited)
		*ret = hold.status;
	return hold.waited;
}
