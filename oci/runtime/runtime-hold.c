/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-hold.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/libcrun/libcrun-hold.h"
#include "oci/runtime/runtime-apart.h"

union right {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/* --- the child ----------------------------------------------------------------------------------------------------- */

struct child {
	const struct runtime_hold *hold;
	int socket;
	const struct runtime_parent *parent;
	sigset_t signals;
};

static int send_process(int fd, pid_t pid, int pidfd)
{
	struct iovec io = { &pid, sizeof(pid) };
	union right u = { 0 };
	struct msghdr h = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = u.room, .msg_controllen = sizeof(u.room)
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &pidfd, sizeof(int));
	return sendmsg(fd, &h, MSG_NOSIGNAL) == (ssize_t)sizeof(pid) ? 0 : -errno;
}

/* The parent has the reason of a refusal. */
static int ask_parent(void *arg, pid_t pid, int pidfd, struct fault *f)
{
	const struct child *c = arg;
	char byte;
	ssize_t n;
	int r = send_process(c->socket, pid, pidfd);

	if (r < 0)
		return fault_errno(f, -r, "custody-runtime");
	do
		n = recv(c->socket, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : fault_set(f, EACCES, "the process was not released");
}

static int run(void *arg, struct fault *f)
{
	struct child *c = arg;
	int status = 0, waited, r;

	(void)sigprocmask(SIG_SETMASK, &c->signals, NULL);
	hold_set(ask_parent, c);
	r = c->hold->call(c->hold->job, c->hold->arg, &status, f);
	if (hold_status(&waited))
		runtime_parent_report(c->parent, waited);
	return r < 0 ? r : status;
}

/* --- the parent ---------------------------------------------------------------------------------------------------- */

struct parent {
	const struct runtime_hold *hold;
	struct runtime_apart apart;
	int socket, signals;
	bool refused;
	struct fault why; /* with REFUSED */
	int waited;
};

static void parent_done(struct parent *p)
{
	p->socket = fd_close(p->socket);
	p->signals = fd_close(p->signals);
	runtime_parent_done(&p->apart.parent);
	fault_done(&p->why);
}

/* 1: received; 0: the child has closed its end. */
static int receive_process(int fd, pid_t *ret_pid, int *ret_pidfd)
{
	struct iovec io = { ret_pid, sizeof(*ret_pid) };
	union right u = { 0 };
	struct msghdr h = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = u.room, .msg_controllen = sizeof(u.room)
	};
	const struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
	if (n != (ssize_t)sizeof(*ret_pid) || !c || c->cmsg_type != SCM_RIGHTS)
		return 0;
	memcpy(ret_pidfd, CMSG_DATA(c), sizeof(int));
	return 1;
}

static void on_message(struct parent *p)
{
	_cleanup_close_ int pidfd = -EBADF;
	pid_t pid = 0;

	if (receive_process(p->socket, &pid, &pidfd) == 1) {
		p->refused = runtime_parent_tell(&p->apart.parent, pid, &p->why) < 0 ||
			     p->hold->started(p->hold->arg, pid, pidfd, p->apart.parent.near, &p->why) < 0;
		/* The warden has it, or custody-parent is not needed: an end of file ends it. */
		p->apart.parent.near = fd_close(p->apart.parent.near);
		if (!p->refused)
			(void)send(p->socket, "g", 1, MSG_NOSIGNAL);
	}
	/* There is one message; end of file tells the child that the process is refused. */
	p->socket = fd_close(p->socket);
}

/* True: the child has ended. */
static bool on_signal(struct parent *p)
{
	struct signalfd_siginfo s;

	while (read(p->signals, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGCHLD) {
			if (waitpid(p->apart.pid, &p->waited, WNOHANG) == p->apart.pid)
				return true;
		} else if (s.ssi_code != SI_KERNEL) {
			/* Those of a terminal go to the child as well. */
			(void)kill(p->apart.pid, (int)s.ssi_signo);
		}
	}
	return false;
}

/* True: the child stays as the parent of the process. */
static bool supervise(struct parent *p)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = p->signals, .events = POLLIN },
					{ .fd = p->socket, .events = POLLIN },
					{ .fd = p->apart.parent.done[0], .events = POLLIN } };

		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents)
			on_message(p);
		if (fds[2].revents && runtime_parent_stays(&p->apart.parent))
			return true;
		if (fds[0].revents && on_signal(p))
			return false;
	}
}

static int hold_signals(struct child *c, int *ret, struct fault *f)
{
	sigset_t all;

	(void)sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &c->signals) < 0)
		return fault_errno(f, errno, "signals");
	*ret = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	return *ret < 0 ? fault_errno(f, errno, "signals") : 0;
}

int runtime_hold_run(const struct runtime_hold *h, int *ret_status, struct fault *f)
{
	_cleanup_(parent_done) struct parent p = { .hold = h, .socket = -EBADF, .signals = -EBADF };
	struct child c = { .hold = h, .parent = &p.apart.parent };
	int sockets[2], r = hold_signals(&c, &p.signals, f);

	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return fault_errno(f, errno, "container setup process");
	p.socket = sockets[0];
	c.socket = sockets[1];
	p.apart = (struct runtime_apart){
		.job = h->job, .keep = c.socket, .run = run, .arg = &c, .parent = RUNTIME_PARENT_NONE
	};
	/* In the foreground libcrun waits for the process, and the child is its parent as long as it lives. */
	r = runtime_parent_open(&p.apart.parent, h->job->call.detach ? h->parent : NULL, f);
	if (r >= 0)
		r = runtime_apart_begin(&p.apart, f);
	(void)fd_close(c.socket);
	if (r < 0)
		return r;
	r = supervise(&p) ? runtime_apart_stay(&p.apart)
			  : runtime_apart_end(&p.apart, p.waited, p.refused ? NULL : f);
	if (p.refused)
		return fault_set(f, p.why.code, "%s", fault_text(&p.why));
	if (r < 0)
		return r;
	*ret_status = r;
	return 0;
}
