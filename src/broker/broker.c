/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"
#include "broker/broker-impl.h"

static int require_variables(const struct broker_tools *tools, struct fault *f)
{
	for (size_t i = 0; i < tools->n; i++) {
		const struct config_tool *t = tools->items[i].declared;

		for (char *const *name = t ? t->env : NULL; name && *name; name++)
			if (!getenv(*name))
				return fault_set(
					f, ENOENT,
					"tool '%s' needs the variable '%s', which is not set: set it "
					"for custody, or take it out of env in custody.json",
					t->name, *name);
	}
	return 0;
}

/* Its first message is empty, or the reason why it cannot serve. */
static int wait_ready(int link, struct fault *f)
{
	struct pollfd p = { .fd = link, .events = POLLIN };
	char text[BROKER_RECORD_MAX] = "";
	ssize_t n;

	if (poll(&p, 1, BROKER_READY_MS) == 0)
		return fault_set(f, ETIMEDOUT, "the broker was not ready after %d seconds",
				 BROKER_READY_MS / 1000);
	do
		n = recv(link, text, sizeof(text) - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n == 1 && !text[0])
		return 0;
	return fault_set(f, EIO, "the broker did not start: %s", n > 0 ? text : "it exited");
}

int broker_start(const struct broker_job *job, struct broker *ret, struct fault *f)
{
	const pid_t own = getpid();
	int pair[2], r;

	r = require_variables(job->tools, f);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "socket of the broker");
	*ret = (struct broker){ .pid = fork(), .pidfd = -EBADF, .link = pair[0] };
	if (ret->pid == 0) {
		(void)fd_close(pair[0]);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != own)
			_exit(STATUS_FAILED);
		broker_serve(job, pair[1]);
	}
	(void)fd_close(pair[1]);
	if (ret->pid > 0)
		ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	r = ret->pid < 0 ? fault_errno(f, errno, "start the broker") : wait_ready(pair[0], f);
	if (r < 0)
		broker_done(ret);
	return r;
}

void broker_finish(struct broker *b)
{
	if (b->link >= 0)
		(void)shutdown(b->link, SHUT_WR);
}

void broker_done(struct broker *b)
{
	b->link = fd_close(b->link);
	/* It has said all that it had to say, or does not answer. */
	if (b->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, b->pidfd, SIGKILL, NULL, 0);
	while (b->pid > 0 && waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	b->pid = -1;
	b->pidfd = fd_close(b->pidfd);
}
