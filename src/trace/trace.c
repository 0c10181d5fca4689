/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"

#define SEND_BUFFER (1024 * 1024) /* messages that wait for the supervisor; the kernel may give less */

int trace_start(uint32_t words, struct trace *ret, struct fault *f)
{
	const pid_t own = getpid();
	const int room = SEND_BUFFER;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "socket of the observer");
	(void)setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	*ret = (struct trace){ .pid = fork(), .pidfd = -EBADF, .link = pair[0] };
	if (ret->pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != own)
			_exit(STATUS_FAILED);
		trace_serve(words, pair[1]);
	}
	(void)fd_close(pair[1]);
	if (ret->pid < 0) {
		ret->link = fd_close(ret->link);
		return fault_errno(f, errno, "start the observer");
	}
	ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	return 0;
}

int trace_give(const struct trace *t, int listener, struct fault *f)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &listener, sizeof(listener));
	if (sendmsg(t->link, &h, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return fault_errno(f, errno, "pass the notifications to the observer");
	return 0;
}

int trace_receive(const struct trace *t, bool wait, char bytes[TRACE_MESSAGE_MAX], struct trace_message *ret)
{
	struct pollfd p = { .fd = t->link, .events = POLLIN };
	ssize_t n;

	while (wait && poll(&p, 1, TRACE_END_MS) < 0 && errno == EINTR)
		;
	do
		n = recv(t->link, bytes, TRACE_MESSAGE_MAX, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	/* A message that its own build does not understand ends the observation as an exit does. */
	return n > 0 && trace_message_parse(bytes, (size_t)n, ret) ? 1 : 0;
}

void trace_done(struct trace *t)
{
	t->link = fd_close(t->link);
	if (t->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, t->pidfd, SIGKILL, NULL, 0);
	else if (t->pid > 0)
		(void)kill(t->pid, SIGKILL);
	while (t->pid > 0 && waitpid(t->pid, NULL, 0) < 0 && errno == EINTR)
		;
	t->pid = -1;
	t->pidfd = fd_close(t->pidfd);
}
