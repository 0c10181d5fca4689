/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/warden-start.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "container/warden-channel.h"

#define STACK ((size_t)16 * 1024)
#define FDS_MAX 4096
#define READY_MS 10000 /* a program that does not report ready by then is not custody-warden */

extern char **environ;

static bool keep_channel(int fd)
{
	return fd == WARDEN_CHANNEL ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, WARDEN_CHANNEL) == WARDEN_CHANNEL;
}

/* An engine passes descriptors of its own, some of them for the container. */
static void drop_others(void)
{
	if (syscall(SYS_close_range, STDERR_FILENO + 1, WARDEN_CHANNEL - 1, 0) == 0 &&
	    syscall(SYS_close_range, WARDEN_CHANNEL + 1, UINT_MAX, 0) == 0)
		return;
	/* Kernels before 5.9. */
	for (int fd = STDERR_FILENO + 1; fd < FDS_MAX; fd++)
		if (fd != WARDEN_CHANNEL)
			(void)close(fd);
}

/*
 * Shares our memory until exec: a copy of the page tables, and of every page that we write concurrently, would cost more
 * than all of its work.  So it has its own stack, and its arguments stay unchanged until it reports ready or is reaped.  It
 * shares errno as well: only its last call can fail, and then the container is refused in any case.
 *
 * Nothing else is done here.  The program does everything that may fail before it reports ready.
 */
static int become_warden(void *arg)
{
	const struct warden_start *w = arg;
	char *argv[] = { (char *)"custody-warden", NULL };

	if (keep_channel(w->far)) {
		drop_others();
		(void)execve(w->program, argv, environ);
	}
	_exit(1);
}

/*
 * A child that only starts the warden, and exits: the warden is no descendant of the caller then.  Not reaped, it must have left our
 * memory before this returns.
 */
static int start_apart(void *arg)
{
	struct warden_start *w = arg;

	w->pid = clone(become_warden, w->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, w);
	_exit(w->pid < 0);
}

static pid_t clone_apart(struct warden_start *w)
{
	pid_t pid = clone(start_apart, w->stack + 2 * STACK, CLONE_VM | SIGCHLD, w);

	if (pid < 0)
		return -1;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return w->pid;
}

/*
 * The runtime waits for the hook, not for the warden.  But the scheduler often runs a new or woken process before the one
 * that created or woke it, on the same processor: 0.5 ms at its start, 0.25 ms at its request.  It does not do so for a
 * SCHED_BATCH process; the warden returns to SCHED_OTHER when it has its request.
 */
static pid_t clone_batch(struct warden_start *w)
{
	const struct sched_param none = { 0 };
	const bool usual = sched_getscheduler(0) == SCHED_OTHER;
	pid_t pid;

	if (usual)
		(void)sched_setscheduler(0, SCHED_BATCH, &none);
	pid = w->apart ? clone_apart(w) : clone(become_warden, w->stack + STACK, CLONE_VM | SIGCHLD, w);
	if (usual)
		(void)sched_setscheduler(0, SCHED_OTHER, &none);
	return pid;
}

static int start(struct warden_start *w, struct fault *f)
{
	int pair[2], r = 0;

	w->stack = malloc(2 * STACK);
	if (!w->stack)
		return fault_errno(f, ENOMEM, "custody-warden");
	r = warden_channel_make(pair, f);
	if (r < 0)
		return r;
	w->channel = pair[0];
	w->far = pair[1];
	w->pid = clone_batch(w);
	if (w->pid < 0)
		r = fault_errno(f, errno, "start custody-warden");
	/* The warden then has the only copy: its exit closes the channel. */
	(void)fd_close(pair[1]);
	return r;
}

int warden_start_begin(struct warden_start *w, const char *libexec, struct fault *f)
{
	w->program = path_join(libexec, "custody-warden");
	if (!w->program)
		return fault_errno(f, ENOMEM, "custody-warden");
	if (access(w->program, X_OK) < 0)
		return fault_errno(f, errno, "custody-warden at '%s': run 'make install'", w->program);
	return start(w, f);
}

static void forget(struct warden_start *w)
{
	w->channel = fd_close(w->channel);
	w->pid = -1;
	free(w->program);
	free(w->stack);
	w->program = w->stack = NULL;
}

int warden_start_require(struct warden_start *w, struct fault *f)
{
	int r = w->ready ? 0 : warden_channel_wait_ready(w->channel, READY_MS, f);

	w->ready = r >= 0;
	return r < 0 ? fault_wrap(f, r, "custody-warden at '%s' is damaged (run 'make install')", w->program)
		     : 0;
}

int warden_start_release(struct warden_start *w, const struct warden_request *rq, const int *fds,
			 struct fault *f)
{
	int r;

	r = warden_start_require(w, f);
	if (r >= 0)
		r = warden_channel_send(w->channel, rq, fds, f);
	if (r < 0)
		return r;
	/* Without init nothing else keeps the container from running before its start is recorded. */
	if (rq->kind == WARDEN_BUNDLE && !rq->init)
		r = fault_wrap(f, warden_channel_wait_ready(w->channel, READY_MS, f),
			       "not started: custody-warden could not record the start ('custody ledger "
			       "show' has the "
			       "reason)");
	forget(w);
	return r;
}

void warden_start_done(struct warden_start *w)
{
	/* It has no request, so nothing is left undone.  A child reparented to crun would hide the exit of its hook. */
	if (w->pid > 0 && !w->apart) {
		(void)kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	forget(w);
}
