/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/overlay-monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

/*
 * Rules of the monitor:
 *
 * 1. MUST hold nothing of the caller: no stdio, no descriptor but its socket, no controlling terminal.
 *
 * 2. MUST NOT outlive the supervisor, and the program MUST NOT outlive the monitor.
 *
 * 3. MUST NOT be in the container's cgroup: killing the cgroup would also unmount the tree that is to be
 * captured.
 */
#define MONITOR_FD 3
#define OUTPUT_MAX 400

static void send_text(int fd, const char *text)
{
	struct overlay_monitor_result end = { 0 };

	(void)snprintf(end.text, sizeof(end.text), "%s", text);
	(void)!send(fd, &end, strlen(end.text) + 1, MSG_NOSIGNAL);
}

static void give_up(int fd, struct fault *f)
{
	send_text(fd, fault_text(f));
	_exit(1);
}

static int die_with_parent(pid_t parent, struct fault *f)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return fault_errno(f, errno, "set the parent-death signal");
	return getppid() == parent ? 0 : fault_set(f, ECANCELED, "the supervisor has exited");
}

/* Returns the socket's new number. */
static int detach_from_caller(int fd, struct fault *f)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return fault_errno(f, errno, "open '/dev/null'");
	if (fd != MONITOR_FD && dup3(fd, MONITOR_FD, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "prepare descriptors of the overlay monitor");
	if (null == MONITOR_FD)
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			return fault_errno(f, errno, "prepare descriptors of the overlay monitor");
	if (close_range(MONITOR_FD + 1, ~0U, 0) < 0)
		return fault_errno(f, errno, "close descriptors");
	(void)setsid();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	return MONITOR_FD;
}

/* False: no request will arrive. */
static bool receive(int fd, struct overlay_server_request *o, int *fds, struct fault *f)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(OVERLAY_MONITOR_FDS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = o, .iov_len = sizeof(*o) };
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	const struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	c = CMSG_FIRSTHDR(&h);
	if (n != (ssize_t)sizeof(*o) || !c || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(OVERLAY_MONITOR_FDS * sizeof(int)))
		return fault_set(f, EPROTO, "malformed request") == 0;
	memcpy(fds, CMSG_DATA(c), OVERLAY_MONITOR_FDS * sizeof(int));
	return true;
}

static int join(int fd, int type, const char *what, struct fault *f)
{
	return setns(fd, type) < 0 ? fault_errno(f, errno, "enter the %s namespace", what) : 0;
}

/*
 * Enter the creator's mounts with one id's power over its own files.  The order differs: root may enter
 * before it drops its ids, a user only inside the user namespace.
 */
static int enter(const struct overlay_server_request *o, const int *fds, struct fault *f)
{
	int r = 0;

	if (!o->rootless) {
		r = join(fds[OVERLAY_MONITOR_MOUNT], CLONE_NEWNS, "mount", f);
		if (r == 0 && setgroups(0, NULL) < 0)
			r = fault_errno(f, errno, "drop groups");
	}
	if (r == 0)
		r = join(fds[OVERLAY_MONITOR_USER], CLONE_NEWUSER, "user", f);
	if (r == 0 && o->rootless)
		r = join(fds[OVERLAY_MONITOR_MOUNT], CLONE_NEWNS, "mount", f);
	if (r < 0)
		return r;
	if (setresgid(o->gid, o->gid, o->gid) < 0 || setresuid(o->uid, o->uid, o->uid) < 0)
		return fault_errno(f, errno, "become %u", (unsigned int)o->uid);
	if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) < 0)
		return fault_errno(f, errno, "create namespaces for fuse-overlayfs");
	return 0;
}

/* Describes the exit of the program: its first output, else its status. */
static void send_exit(int fd, pid_t pid, const char *output)
{
	char text[OUTPUT_MAX + 100];
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		(void)snprintf(text, sizeof(text), "killed by signal %d%s%s", WTERMSIG(status),
			       *output ? ": " : "", output);
	else
		(void)snprintf(text, sizeof(text), "%s (status %d)", *output ? output : "no output",
			       WEXITSTATUS(status));
	send_text(fd, text);
}

/*
 * Only the first output of the program is kept, the rest is discarded: the program must never block on the
 * pipe.
 */
static void append_output(char output[OUTPUT_MAX], const char *more, ssize_t n)
{
	size_t have = strlen(output);

	for (ssize_t i = 0; i < n && have < OUTPUT_MAX - 1; i++)
		output[have++] = more[i] == '\n' ? ' ' : more[i];
	output[have] = '\0';
	while (have && output[have - 1] == ' ')
		output[--have] = '\0';
}

static void watch(int fd, pid_t pid, int output)
{
	char text[OUTPUT_MAX] = "", more[256];

	for (;;) {
		struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = output, .events = POLLIN } };

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents) {
			ssize_t n = read(output, more, sizeof(more));

			if (n <= 0) {
				send_exit(fd, pid, text);
				_exit(1);
			}
			append_output(text, more, n);
		}
		/*
		 * No second request is expected: readable means that the supervisor has exited or asks to
		 * stop.
		 */
		if (p[0].revents) {
			(void)kill(pid, SIGKILL);
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
			_exit(0);
		}
	}
}

void overlay_monitor(int fd, pid_t parent, const struct overlay_server_limits *l)
{
	static struct overlay_server_request o;
	int fds[OVERLAY_MONITOR_FDS], output[2];
	struct fault f = { 0 };
	pid_t pid;

	(void)prctl(PR_SET_NAME, "custody-overlay");
	if (die_with_parent(parent, &f) < 0)
		_exit(1);
	fd = detach_from_caller(fd, &f);
	if (fd < 0)
		_exit(1);
	if (!receive(fd, &o, fds, &f)) {
		if (f.code)
			give_up(fd, &f);
		_exit(0);
	}
	/* Changing the id clears the parent-death signal: set it again. */
	if (enter(&o, fds, &f) < 0 || die_with_parent(parent, &f) < 0)
		give_up(fd, &f);
	/* No process of that id may ptrace us: we hold the supervisor's socket. */
	(void)prctl(PR_SET_DUMPABLE, 0);
	if (pipe2(output, O_CLOEXEC) < 0) {
		(void)fault_errno(&f, errno, "create a pipe for fuse-overlayfs");
		give_up(fd, &f);
	}
	pid = fork();
	if (pid < 0) {
		(void)fault_errno(&f, errno, "start fuse-overlayfs");
		give_up(fd, &f);
	}
	if (pid == 0) {
		(void)fd_close(fd);
		(void)fd_close(output[0]);
		overlay_program_exec(&o, l, fds[OVERLAY_MONITOR_FUSE], output[1]);
	}
	(void)fd_close(output[1]);
	for (size_t i = 0; i < OVERLAY_MONITOR_FDS; i++)
		(void)fd_close(fds[i]);
	watch(fd, pid, output[0]);
	_exit(1);
}
