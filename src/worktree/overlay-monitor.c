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
 * Rules of the keeper:
 * 1. MUST hold nothing of the caller's: no stdio, no descriptor but its socket, no controlling terminal.
 * 2. MUST NOT outlive the supervisor, nor the program the keeper.
 * 3. MUST NOT be in the container's cgroup: who is killed there at the end would take the tree along that is to be captured.
 */
#define KEEPER_FD 3
#define WORDS_MAX 400

static void say(int fd, const char *text)
{
	struct overlay_monitor_result end = { 0 };

	(void)snprintf(end.text, sizeof(end.text), "%s", text);
	(void)!send(fd, &end, strlen(end.text) + 1, MSG_NOSIGNAL);
}

static void give_up(int fd, struct fault *f)
{
	say(fd, fault_text(f));
	_exit(1);
}

static int die_with(pid_t parent, struct fault *f)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return fault_errno(f, errno, "die with the supervisor");
	return getppid() == parent ? 0 : fault_set(f, ECANCELED, "the supervisor is gone");
}

/* Returns the socket's new number. */
static int leave_caller(int fd, struct fault *f)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return fault_errno(f, errno, "open '/dev/null'");
	if (fd != KEEPER_FD && dup3(fd, KEEPER_FD, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "descriptors of the overlay's keeper");
	if (null == KEEPER_FD)
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (dup2(null, i) < 0)
			return fault_errno(f, errno, "descriptors of the overlay's keeper");
	if (close_range(KEEPER_FD + 1, ~0U, 0) < 0)
		return fault_errno(f, errno, "close descriptors");
	(void)setsid();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	return KEEPER_FD;
}

/* False: nobody will ever ask. */
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
		return fault_set(f, EPROTO, "an order that nobody understands") == 0;
	memcpy(fds, CMSG_DATA(c), OVERLAY_MONITOR_FDS * sizeof(int));
	return true;
}

static int join(int fd, int type, const char *what, struct fault *f)
{
	return setns(fd, type) < 0 ? fault_errno(f, errno, "enter the %s namespace", what) : 0;
}

/*
 * The creator's mounts, seen with the power of one id over what is its own.  Who has the right to enter differs: root has it
 * before it gives itself up, a user only in the user namespace.
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
		return fault_errno(f, errno, "make namespaces for fuse-overlayfs");
	return 0;
}

/* The end of the program, in words: its own first ones, else its status. */
static void tell(int fd, pid_t pid, const char *words)
{
	char text[WORDS_MAX + 100];
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		(void)snprintf(text, sizeof(text), "killed by signal %d%s%s", WTERMSIG(status),
			       *words ? ": " : "", words);
	else
		(void)snprintf(text, sizeof(text), "%s (status %d)", *words ? words : "without a word",
			       WEXITSTATUS(status));
	say(fd, text);
}

/* The first of what the program says is kept, the rest is dropped: it must never wait for a reader. */
static void keep_words(char words[WORDS_MAX], const char *more, ssize_t n)
{
	size_t have = strlen(words);

	for (ssize_t i = 0; i < n && have < WORDS_MAX - 1; i++)
		words[have++] = more[i] == '\n' ? ' ' : more[i];
	words[have] = '\0';
	while (have && words[have - 1] == ' ')
		words[--have] = '\0';
}

static void watch(int fd, pid_t pid, int words)
{
	char text[WORDS_MAX] = "", more[256];

	for (;;) {
		struct pollfd p[2] = { { .fd = fd, .events = POLLIN }, { .fd = words, .events = POLLIN } };

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents) {
			ssize_t n = read(words, more, sizeof(more));

			if (n <= 0) {
				tell(fd, pid, text);
				_exit(1);
			}
			keep_words(text, more, n);
		}
		/* Nobody asks twice: what can be read here is the end of the supervisor, or its will. */
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
	int fds[OVERLAY_MONITOR_FDS], words[2];
	struct fault f = { 0 };
	pid_t pid;

	(void)prctl(PR_SET_NAME, "custody-overlay");
	if (die_with(parent, &f) < 0)
		_exit(1);
	fd = leave_caller(fd, &f);
	if (fd < 0)
		_exit(1);
	if (!receive(fd, &o, fds, &f)) {
		if (f.code)
			give_up(fd, &f);
		_exit(0);
	}
	/* Another id takes the wish to die along: it is made again. */
	if (enter(&o, fds, &f) < 0 || die_with(parent, &f) < 0)
		give_up(fd, &f);
	/* Nobody of that id may look into us, who have the supervisor's socket. */
	(void)prctl(PR_SET_DUMPABLE, 0);
	if (pipe2(words, O_CLOEXEC) < 0) {
		(void)fault_errno(&f, errno, "pipe of fuse-overlayfs");
		give_up(fd, &f);
	}
	pid = fork();
	if (pid < 0) {
		(void)fault_errno(&f, errno, "start fuse-overlayfs");
		give_up(fd, &f);
	}
	if (pid == 0) {
		(void)fd_close(fd);
		(void)fd_close(words[0]);
		overlay_program_exec(&o, l, fds[OVERLAY_MONITOR_FUSE], words[1]);
	}
	(void)fd_close(words[1]);
	for (size_t i = 0; i < OVERLAY_MONITOR_FDS; i++)
		(void)fd_close(fds[i]);
	watch(fd, pid, words[0]);
	_exit(1);
}
