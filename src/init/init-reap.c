/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-reap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "init/init-exec.h"
#include "init/init-rt.h"

#define SIGNAL_BIT(s) (1ULL << ((s)-1))

long reap_signals(void)
{
	const uint64_t mask = SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGTERM) | SIGNAL_BIT(SIGINT) |
			      SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGQUIT) | SIGNAL_BIT(SIGUSR1) |
			      SIGNAL_BIT(SIGUSR2) | SIGNAL_BIT(SIGWINCH);

	return SYS(signalfd4, -1, &mask, sizeof(mask), SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Sends MSG with its type and value set.  A closed socket is not an error here: reading finds it. */
static void send_message(int socket, struct init_msg *msg, enum init_msg_type type, int value)
{
	if (socket < 0)
		return;
	msg->magic = INIT_PROTO_MAGIC;
	msg->type = type;
	msg->value = value;
	(void)SYS(sendto, socket, msg, sizeof(*msg), MSG_NOSIGNAL, NULL, 0);
}

static void forward(const struct reap *r, int sig)
{
	if (r->payload > 0 && sig > 0 && sig <= 64)
		(void)SYS(kill, -r->payload, sig);
}

static int wait_any(int *status, int flags, long *ret_pid)
{
	do
		*ret_pid = SYS(wait4, -1, status, flags, NULL);
	while (*ret_pid == -EINTR);
	return *ret_pid > 0;
}

/*
 * Kills every process but this one, then reaps them. Only as PID 1: kill(-1) then reaches only this
 * namespace. From any other process the same call would kill the host's processes, so the pid is checked here
 * again, although main has checked it.
 */
static void end_all(const struct reap *r)
{
	int status;
	long pid;

	if (r->exec) {
		exec_end_below(r->payload);
		return;
	}
	if (SYS(getpid) != 1)
		rt_exit(STATUS_FAILED);
	(void)SYS(kill, -1, SIGKILL);
	while (wait_any(&status, __WALL, &pid))
		;
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? STATUS_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Returns whether the payload exited. */
static bool reap_dead(const struct reap *r, int *ret_status)
{
	bool ended = false;
	int status;
	long pid;

	while (wait_any(&status, WNOHANG | __WALL, &pid)) {
		if (pid != r->payload)
			continue;
		*ret_status = status;
		ended = true;
	}
	return ended;
}

static bool read_signals(const struct reap *r, int *ret_status)
{
	struct signalfd_siginfo info;
	bool ended = false;

	while (SYS(read, r->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			ended |= reap_dead(r, ret_status);
		else
			forward(r, (int)info.ssi_signo);
	}
	return ended;
}

/* False if the supervisor has closed the socket. */
static bool read_socket(const struct reap *r)
{
	int fds[INIT_EXEC_FDS];
	long n;

	n = exec_receive(r->socket, r->msg, fds);
	if (n == -EAGAIN || n == -EINTR)
		return true;
	if (n < (long)offsetof(struct init_msg, ns) || r->msg->magic != INIT_PROTO_MAGIC)
		return false;
	if (r->msg->type == INIT_MSG_SIGNAL)
		forward(r, r->msg->value);
	if (fds[0] < 0)
		return true;
	if (r->msg->type == INIT_MSG_EXEC)
		exec_fork(r, fds);
	else
		exec_close(fds);
	return true;
}

/*
 * stdio belongs to the payload alone: while init holds it open, the reader outside gets no EOF on its output,
 * and a writer no EPIPE on its closed input.
 */
static void leave_stdio(void)
{
	long fd = SYS(openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i <= 2; i++) {
		if (fd >= 0)
			(void)SYS(dup3, fd, i, 0);
		else
			(void)SYS(close, i);
	}
	if (fd > 2)
		(void)SYS(close, fd);
}

static void say_not_executed(const char *name, int err)
{
	char text[256];
	struct line l = LINE(text);

	line_put(&l, "cannot execute '");
	line_put(&l, name);
	line_put(&l, err == ENOENT ? "': not found: " : "': ");
	line_put_errno(&l, err);
	rt_print(text);
}

/* 0: executed. Else the exit status. */
static int read_pipe(struct reap *r)
{
	int err = 0;
	long n;

	n = SYS(read, r->pipe, &err, sizeof(err));
	(void)SYS(close, r->pipe);
	r->pipe = -1;
	if (n == 0) {
		send_message(r->socket, r->msg, INIT_MSG_EXECED, 0);
		leave_stdio();
		return 0;
	}
	if (n != sizeof(err))
		err = EIO;
	send_message(r->socket, r->msg, INIT_MSG_EXEC_FAILED, err);
	if (r->socket < 0)
		say_not_executed(r->name, err);
	end_all(r);
	return init_exec_status(err);
}

static uint64_t now_ms(void)
{
	struct timespec t = { 0 };

	(void)SYS(clock_gettime, CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Waits for FDS, or until DEADLINE (0: forever). False on timeout. */
static bool wait_until(struct pollfd *fds, unsigned int n, uint64_t deadline)
{
	uint64_t now = deadline ? now_ms() : 0, left = deadline > now ? deadline - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(left / 1000),
				    .tv_nsec = (long)(left % 1000) * 1000000 };
	long r = SYS(ppoll, fds, n, deadline ? &timeout : NULL, NULL, 0);

	if (r < 0)
		for (unsigned int i = 0; i < n; i++)
			fds[i].revents = 0;
	return !(r == 0 && deadline);
}

int reap_run(struct reap *r)
{
	uint64_t deadline = r->time_ms ? now_ms() + r->time_ms : 0;
	bool late = false;
	int status = 0;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = r->pipe, .events = POLLIN },
			{ .fd = r->socket, .events = POLLIN },
			/*
			 * Only after exec has succeeded or failed: pending signals would wake the loop
			 * repeatedly.
			 */
			{ .fd = r->pipe < 0 ? r->signals : -1, .events = POLLIN },
		};

		if (!wait_until(fds, ARRAY_SIZE(fds), deadline)) {
			if (late) {
				end_all(r);
				return STATUS_TIMEOUT;
			}
			late = true;
			deadline += r->grace_ms;
			forward(r, SIGTERM);
		}
		/* The pipe first: a payload that exited at once had been executed. */
		if (fds[0].revents) {
			int failed = read_pipe(r);

			if (failed)
				return failed;
		}
		if (fds[1].revents && !read_socket(r)) {
			end_all(r);
			return STATUS_FAILED;
		}
		if (fds[2].revents && read_signals(r, &status)) {
			end_all(r);
			send_message(r->socket, r->msg, INIT_MSG_EXITED, status);
			return late ? STATUS_TIMEOUT : exit_status(status);
		}
	}
}
