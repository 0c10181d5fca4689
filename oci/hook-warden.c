/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook-warden.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define FDS_END (WARDEN_PIDFD + WARDEN_FDS)
#define STACK (WARDEN_ORDER_MAX + (size_t)24 * 1024)

extern char **environ;

/*
 * The process shares our memory: a copy of the page tables, and of every page that we write while it waits, would cost
 * more than all of its work.  So it has a stack of its own and copies of what it needs, in memory that we never touch
 * again and do not give back once it may run: that goes when it executes the program, or with the last of us two.
 * It shares errno as well.  None of its calls fails before the order, and we look at none after we sent it.
 */
struct nest {
	size_t size;
	int socket, peer;
	char *program;
	char **env;
	_Alignas(16) char stack[STACK];
	char texts[];
};

union rights {
	char room[CMSG_SPACE(WARDEN_FDS * sizeof(int))];
	struct cmsghdr align;
};

static bool receive(int fd, char *order, size_t room, int fds[WARDEN_FDS])
{
	struct iovec io = { order, room - 1 };
	union rights u;
	struct msghdr m = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = u.room, .msg_controllen = sizeof(u.room)
	};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(WARDEN_FDS * sizeof(int)) ||
	    (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return false;
	memcpy(fds, CMSG_DATA(c), WARDEN_FDS * sizeof(int));
	order[n] = '\0';
	return true;
}

/* Whoever holds the caller's pipes keeps the caller waiting. */
static bool leave_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (null != fd && dup2(null, fd) < 0)
			return false;
	return null >= 0 && chdir("/") == 0;
}

/* All of them above their places first, so that none is overwritten before it has moved. */
static bool place_fds(const int fds[WARDEN_FDS])
{
	int high[WARDEN_FDS];

	for (int i = 0; i < WARDEN_FDS; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FDS_END);
		if (high[i] < 0)
			return false;
	}
	for (int i = 0; i < WARDEN_FDS; i++)
		if (dup2(high[i], WARDEN_PIDFD + i) < 0)
			return false;
	return close_range(FDS_END, ~0U, 0) == 0;
}

/* Whoever waits for the container goes on at once, and must not find its session locked by a process that is leaving. */
static void kill_unwatched(int pidfd)
{
	if (dup2(pidfd, WARDEN_PIDFD) == WARDEN_PIDFD) {
		pidfd = WARDEN_PIDFD;
		(void)close_range(WARDEN_PIDFD + 1, ~0U, 0);
	}
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

/* Nobody waits for us: what cannot be watched must not run.  Its claim tells the next start. */
static int become_warden(void *arg)
{
	const struct nest *n = arg;
	char order[WARDEN_ORDER_MAX];
	char *argv[] = { (char *)"custody-warden", order, NULL };
	int fds[WARDEN_FDS], pidfd;

	(void)close(n->peer);
	(void)setsid();
	if (!receive(n->socket, order, sizeof(order), fds))
		_exit(0);
	pidfd = fds[0];
	if (leave_stdio() && place_fds(fds)) {
		pidfd = WARDEN_PIDFD;
		(void)execve(n->program, argv, n->env);
	}
	kill_unwatched(pidfd);
	_exit(1);
}

static char *put_text(char **at, const char *text)
{
	size_t len = strlen(text) + 1;
	char *here = memcpy(*at, text, len);

	*at += len;
	return here;
}

static struct nest *make_nest(const char *program, char *const *env)
{
	size_t n = strv_len(env), size = sizeof(struct nest) + (n + 1) * sizeof(char *) + strlen(program) + 1;
	struct nest *nest;
	char *at;

	for (size_t i = 0; i < n; i++)
		size += strlen(env[i]) + 1;
	nest = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (nest == MAP_FAILED)
		return NULL;
	nest->size = size;
	nest->env = (char **)(void *)nest->texts;
	at = nest->texts + (n + 1) * sizeof(char *);
	for (size_t i = 0; i < n; i++)
		nest->env[i] = put_text(&at, env[i]);
	nest->program = put_text(&at, program);
	return nest;
}

static int start(struct hook_warden *w, struct fault *f)
{
	struct nest *n = w->nest;
	int fd[2], r = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return fault_errno(f, errno, "socket of custody-warden");
	n->socket = fd[1];
	n->peer = w->socket = fd[0];
	w->pid = clone(become_warden, n->stack + sizeof(n->stack), CLONE_VM | SIGCHLD, n);
	if (w->pid < 0)
		r = fault_errno(f, errno, "start custody-warden");
	(void)fd_close(fd[1]);
	return r;
}

int hook_warden_start(struct hook_warden *w, const char *libexec, struct fault *f)
{
	_cleanup_free_ char *program = path_join(libexec, "custody-warden");

	if (!program)
		return fault_errno(f, ENOMEM, "custody-warden");
	if (access(program, X_OK) < 0)
		return fault_errno(f, errno, "custody-warden at '%s': run 'make install'", program);
	w->nest = make_nest(program, environ);
	return w->nest ? start(w, f) : fault_errno(f, ENOMEM, "custody-warden");
}

static int send_order(int fd, const struct strbuf *order, const int fds[WARDEN_FDS], struct fault *f)
{
	struct iovec io = { order->text, order->len };
	union rights u = { 0 };
	struct msghdr m = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = u.room, .msg_controllen = sizeof(u.room)
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(WARDEN_FDS * sizeof(int));
	memcpy(CMSG_DATA(c), fds, WARDEN_FDS * sizeof(int));
	if (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
		return fault_errno(f, errno, "order of custody-warden");
	return 0;
}

int hook_warden_release(struct hook_warden *w, const struct warden_order *order, const int fds[WARDEN_FDS],
			struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	r = warden_order_write(order, &text, f);
	if (r >= 0 && text.len >= WARDEN_ORDER_MAX)
		r = fault_set(f, E2BIG, "order of custody-warden is too long");
	if (r >= 0)
		r = send_order(w->socket, &text, fds, f);
	if (r < 0)
		return r;
	/* Not waited for: that would be a switch to it and back while the runtime waits for us. */
	w->socket = fd_close(w->socket);
	w->pid = -1;
	w->nest = NULL;
	return 0;
}

void hook_warden_done(struct hook_warden *w)
{
	w->socket = fd_close(w->socket);
	/* A child that is left to crun hides the end of its hook. */
	if (w->pid > 0)
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
	w->pid = -1;
	if (w->nest)
		(void)munmap(w->nest, w->nest->size);
	w->nest = NULL;
}
