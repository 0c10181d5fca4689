/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/egress.h"

#include <errno.h>
#include <fcntl.h>
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
#include "base/process.h"
#include "egress/egress-net.h"

#define READY_MS 10000

/* The descriptors at their places, first moved above all of them.  The others are closed on exec. */
static int place_descriptors(const struct egress_job *job, int link, int config)
{
	int from[EGRESS_LISTENERS_FD + EGRESS_LISTENERS_MAX], n = EGRESS_LINK_FD, null;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return -errno;
	from[n++] = link;
	from[n++] = config;
	for (size_t i = 0; i < job->n_listeners; i++)
		from[n++] = job->listeners[i];
	for (int i = EGRESS_LINK_FD; i < n; i++) {
		from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, n);
		if (from[i] < 0)
			return -errno;
	}
	for (int i = 0; i < EGRESS_LINK_FD; i++)
		if (dup2(null, i) < 0)
			return -errno;
	for (int i = EGRESS_LINK_FD; i < n; i++)
		if (dup2(from[i], i) < 0)
			return -errno;
	return close_range((unsigned int)n, ~0U, 0) < 0 ? -errno : 0;
}

static _Noreturn void execute(const struct egress_job *job, int link, int config, pid_t parent)
{
	/* No search list: a name that is allowed must not be completed to another one. */
	char *const env[] = { (char[]){ "LOCALDOMAIN=." }, (char[]){ "PATH=/usr/bin:/bin" }, NULL };
	char *const argv[] = { (char[]){ EGRESS_PROGRAM }, NULL };
	sigset_t none;

	process_restore_signals();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || chdir("/") < 0 ||
	    place_descriptors(job, link, config) < 0)
		_exit(STATUS_FAILED);
	(void)execve(job->program, argv, env);
	_exit(STATUS_NOT_EXECUTABLE);
}

/* Its first message: "", or the reason why it cannot answer. */
static int wait_ready(const struct egress *e, struct fault *f)
{
	struct pollfd p = { .fd = e->link, .events = POLLIN };
	char text[1024];
	ssize_t n;
	int r;

	do
		r = poll(&p, 1, READY_MS);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return fault_set(f, ETIMEDOUT, EGRESS_PROGRAM ": not ready after %d seconds",
				 READY_MS / 1000);
	n = recv(e->link, text, sizeof(text) - 1, MSG_DONTWAIT);
	if (n <= 0)
		return fault_set(f, EIO, EGRESS_PROGRAM " exited without reporting an error");
	text[n] = '\0';
	return *text ? fault_set(f, EIO, EGRESS_PROGRAM ": %s", text) : 0;
}

int egress_start(const struct egress_job *job, struct egress *ret, struct fault *f)
{
	_cleanup_close_ int config = -EBADF;
	const pid_t own = getpid();
	int pair[2], r;

	if (job->n_listeners > EGRESS_LISTENERS_MAX)
		return fault_set(f, EINVAL, EGRESS_PROGRAM ": too many listeners");
	r = egress_config_write(job, &config, f);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "socket of " EGRESS_PROGRAM);
	*ret = (struct egress){ .pid = fork(), .pidfd = -EBADF, .link = pair[0] };
	if (ret->pid == 0)
		execute(job, pair[1], config, own);
	(void)fd_close(pair[1]);
	if (ret->pid < 0) {
		ret->link = fd_close(ret->link);
		return fault_errno(f, errno, "start " EGRESS_PROGRAM);
	}
	ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	r = wait_ready(ret, f);
	if (r < 0)
		egress_done(ret);
	return r;
}

void egress_record_done(struct egress_record *r)
{
	free(r->kind);
	free(r->status);
	jdoc_free(r->d);
	*r = (struct egress_record){ 0 };
}

static char *copy_text(const struct jdoc *m, const char *key)
{
	const char *text = jdoc_get_string(m, key);

	return text ? strdup(text) : NULL;
}

int egress_receive(const struct egress *e, bool wait, struct egress_record *ret)
{
	struct pollfd p = { .fd = e->link, .events = POLLIN };
	_cleanup_jdoc_ struct jdoc *m = NULL;
	char text[EGRESS_RECORD_MAX];
	ssize_t n;

	if (wait && poll(&p, 1, EGRESS_END_MS) == 0)
		return 0;
	do
		n = recv(e->link, text, sizeof(text), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? -EAGAIN : 0;
	if (jdoc_parse(text, (size_t)n, EGRESS_PROGRAM, NULL, &m, NULL) < 0)
		return 0;
	*ret = (struct egress_record){ .kind = copy_text(m, "k"), .status = copy_text(m, "s") };
	ret->d = jdoc_get(m, "d") ? jdoc_copy(jdoc_get(m, "d")) : NULL;
	if (ret->kind && ret->status && ret->d)
		return 1;
	egress_record_done(ret);
	return 0;
}

void egress_finish(struct egress *e)
{
	if (e->link >= 0)
		(void)shutdown(e->link, SHUT_WR);
}

void egress_done(struct egress *e)
{
	e->link = fd_close(e->link);
	if (e->pid > 0) {
		if (e->pidfd >= 0)
			(void)syscall(SYS_pidfd_send_signal, e->pidfd, SIGKILL, NULL, 0);
		/* -ECHILD: the supervisor has reaped it with others. */
		while (waitpid(e->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	e->pidfd = fd_close(e->pidfd);
	e->pid = -1;
}
