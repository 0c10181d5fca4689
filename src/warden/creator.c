/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/creator.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/seam.h"
#include "layer/inherit-table.h"
#include "layer/init-proto.h"
#include "session/session-process.h"

/*
 * Rules of the child:
 * 1. MUST hold no descriptor of the supervisor except stdio, init's socket and its own end of our socket.
 * 2. MUST NOT return: it calls _exit, after it has sent the reason.
 * 3. MUST NOT outlive the supervisor.
 */
#define CREATOR_FD 16 /* above 0-2 and init's socket */

enum { CREATOR_CREATED = 1, CREATOR_DONE, CREATOR_FAILED };

struct creator_msg {
	int32_t what;
	int32_t pid;
	int32_t code;
	char text[2048];
};

static void send_msg(int fd, const struct creator_msg *m)
{
	size_t len = offsetof(struct creator_msg, text) + strlen(m->text) + 1;

	(void)!send(fd, m, len, MSG_NOSIGNAL);
}

static void fail(int fd, const struct fault *f)
{
	struct creator_msg m = { .what = CREATOR_FAILED, .code = f->code };

	(void)snprintf(m.text, sizeof(m.text), "%s", fault_text(f));
	send_msg(fd, &m);
	_exit(STATUS_FAILED);
}

static int move_up(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, CREATOR_KEEP_ALSO_FD + 1);
}

static int take_descriptors(const struct creator_job *job, int fd, struct fault *f)
{
	int inner, own, keep, also, std[3];

	/* First to high numbers, then to their places: no source is overwritten before it was moved. */
	inner = move_up(job->init_fd);
	own = move_up(fd);
	keep = !job->keep_fd ? own : move_up(*job->keep_fd);
	also = !job->keep_also ? own : move_up(*job->keep_also);
	for (int i = 0; i < 3; i++)
		std[i] = move_up(job->stdio[i]);
	if (inner < 0 || own < 0 || keep < 0 || also < 0 || std[0] < 0 || std[1] < 0 || std[2] < 0)
		return fault_errno(f, errno, "descriptors of the container");
	for (int i = 0; i < 3; i++)
		if (dup2(std[i], i) < 0)
			return fault_errno(f, errno, "descriptors of the container");
	if (dup2(inner, INIT_FD) < 0 || dup3(own, CREATOR_FD, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "descriptors of the container");
	if ((job->keep_fd && dup3(keep, CREATOR_KEEP_FD, O_CLOEXEC) < 0) ||
	    (job->keep_also && dup3(also, CREATOR_KEEP_ALSO_FD, O_CLOEXEC) < 0))
		return fault_errno(f, errno, "descriptors of the container");
	if (!job->keep_fd)
		(void)fd_close(CREATOR_KEEP_FD);
	if (!job->keep_also)
		(void)fd_close(CREATOR_KEEP_ALSO_FD);
	if (close_range(INIT_FD + 1, CREATOR_FD - 1, 0) < 0 ||
	    close_range(CREATOR_KEEP_ALSO_FD + 1, ~0U, 0) < 0)
		return fault_errno(f, errno, "close descriptors");
	return 0;
}

/*
 * After the preparation: mounts are attached to paths, so no descriptor of a directory of the host is needed, and the
 * runtime must not have one when it changes directory.
 */
static int close_prepared(struct fault *f)
{
	if (close_range(INIT_FD + 1, CREATOR_FD - 1, 0) < 0 || close_range(CREATOR_FD + 1, ~0U, 0) < 0)
		return fault_errno(f, errno, "close descriptors");
	return 0;
}

static int wait_release(int fd, struct fault *f)
{
	char word;
	ssize_t n;

	do
		n = recv(fd, &word, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : fault_set(f, ECANCELED, "the supervisor has exited");
}

static void run_child(const struct creator_job *job, int fd, pid_t parent)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct creator_msg m = { .what = CREATOR_CREATED };
	struct runtime_request rq = job->rq;
	pid_t pid = -1;
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	/* Signals of the caller's terminal go to the supervisor only. */
	(void)setsid();

	/* First: a real-time process may not enter every cgroup. */
	inherit_reset();
	seam("creator-born");
	r = cgroup_enter(job->cgroup, &f);
	if (r == 0)
		r = take_descriptors(job, fd, &f);
	if (r < 0)
		fail(fd, &f);
	seam("creator-placed");
	if (job->prepare(job->arg, &rq, &f) < 0 || close_prepared(&f) < 0 || wait_release(CREATOR_FD, &f) < 0)
		fail(CREATOR_FD, &f);
	seam("container-prepared");
	if (job->ops->create(&rq, &pid, &f) < 0)
		fail(CREATOR_FD, &f);
	if (rq.process_file && session_process_note(rq.process_file, pid, &f) < 0) {
		(void)kill(pid, SIGKILL);
		fail(CREATOR_FD, &f);
	}
	seam("container-created");
	m.pid = pid;
	send_msg(CREATOR_FD, &m);
	if (job->ops->start(&rq, &f) < 0)
		fail(CREATOR_FD, &f);
	seam("container-started");
	m.what = CREATOR_DONE;
	send_msg(CREATOR_FD, &m);
	_exit(0);
}

/* fork(), directly into the v2 cgroup if there is one. */
static pid_t spawn(int cgroup_fd, bool *cloned_into)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP,
				   .exit_signal = SIGCHLD,
				   .cgroup = (uint64_t)cgroup_fd };
	pid_t pid = -1;

	*cloned_into = false;
	if (cgroup_fd >= 0)
		pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid >= 0) {
		*cloned_into = true;
		return pid;
	}
	return fork();
}

int creator_spawn(const struct creator_job *job, struct creator *ret, struct fault *f)
{
	pid_t parent = getpid(), pid;
	bool cloned_into;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return fault_errno(f, errno, "socket of the creator");
	pid = spawn(cgroup_clone_fd(job->cgroup), &cloned_into);
	if (pid == 0)
		run_child(job, fd[1], parent);
	(void)fd_close(fd[1]);
	if (pid < 0) {
		(void)fd_close(fd[0]);
		return fault_errno(f, errno, "start the creator");
	}
	*ret = (struct creator){ .pid = pid,
				 .fd = fd[0],
				 .pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
				 .cloned_into = cloned_into };
	return 0;
}

int creator_release(struct creator *c, struct fault *f)
{
	if (send(c->fd, "", 1, MSG_NOSIGNAL) == 1 || errno == EPIPE)
		return 0; /* a creator that exited has sent the reason: creator_read receives it */
	return fault_errno(f, errno, "release the creator");
}

void creator_done(struct creator *c)
{
	c->fd = fd_close(c->fd);
	c->pidfd = fd_close(c->pidfd);
}

int creator_read(struct creator *c, bool ended, pid_t *ret_pid, struct fault *f)
{
	struct creator_msg m = { 0 };
	ssize_t n;

	/*
	 * A creator that failed early never read our release: the kernel then returns ECONNRESET once, before the
	 * queued message.
	 */
	do
		n = recv(c->fd, &m, sizeof(m) - 1, ended ? MSG_DONTWAIT : 0);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < (ssize_t)offsetof(struct creator_msg, text))
		return fault_set(f, EIO, "container setup process exited without reporting an error");
	switch (m.what) {
	case CREATOR_CREATED:
		*ret_pid = m.pid;
		return 1;
	case CREATOR_DONE:
		return 0;
	default:
		return fault_set(f, m.code > 0 ? m.code : EIO, "%s", m.text);
	}
}
