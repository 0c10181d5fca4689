/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-warden.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "container/warden-channel.h"

#define STACK ((size_t)16 * 1024)
#define READY_MS 10000 /* what was executed and has said nothing by then is none of ours */

extern char **environ;

static bool keep_line(int fd)
{
	return fd == WARDEN_CHANNEL ? fcntl(fd, F_SETFD, 0) == 0 : dup2(fd, WARDEN_CHANNEL) == WARDEN_CHANNEL;
}

/*
 * Shares our memory until it is executed: a copy of the page tables, and of every page that we write meanwhile, would cost
 * more than all of its work.  So it has a stack of its own, and what it reads stays as it is until it said that it is
 * ready or was collected.  It shares errno as well: none of its calls fails but the last, and then the container is refused,
 * whatever we took the number for.
 *
 * Nothing else is done here.  What can go wrong is the program's to do before it says that it is ready.
 */
static int become_warden(void *arg)
{
	const struct hook_warden *w = arg;
	char *argv[] = { (char *)"custody-warden", NULL };

	if (keep_line(w->far))
		(void)execve(w->program, argv, environ);
	_exit(1);
}

/*
 * A runtime waits for us, and nobody for the warden yet.  But whoever is born or woken is often put in front of who did
 * that, on the same processor: half a millisecond for its start, a quarter for its order.  A batch process never is; the
 * warden ceases to be one when it has its order.
 */
static pid_t clone_behind(struct hook_warden *w)
{
	const struct sched_param none = { 0 };
	const bool usual = sched_getscheduler(0) == SCHED_OTHER;
	pid_t pid;

	if (usual)
		(void)sched_setscheduler(0, SCHED_BATCH, &none);
	pid = clone(become_warden, w->stack + STACK, CLONE_VM | SIGCHLD, w);
	if (usual)
		(void)sched_setscheduler(0, SCHED_OTHER, &none);
	return pid;
}

static int start(struct hook_warden *w, struct fault *f)
{
	int line[2], r = 0;

	w->stack = malloc(STACK);
	if (!w->stack)
		return fault_errno(f, ENOMEM, "custody-warden");
	r = warden_channel_make(line, f);
	if (r < 0)
		return r;
	w->line = line[0];
	w->far = line[1];
	w->pid = clone_behind(w);
	if (w->pid < 0)
		r = fault_errno(f, errno, "start custody-warden");
	/* Its copy is the only one then: we hear when it is gone. */
	(void)fd_close(line[1]);
	return r;
}

int hook_warden_start(struct hook_warden *w, const char *libexec, struct fault *f)
{
	w->program = path_join(libexec, "custody-warden");
	if (!w->program)
		return fault_errno(f, ENOMEM, "custody-warden");
	if (access(w->program, X_OK) < 0)
		return fault_errno(f, errno, "custody-warden at '%s': run 'make install'", w->program);
	return start(w, f);
}

static void forget(struct hook_warden *w)
{
	w->line = fd_close(w->line);
	w->pid = -1;
	free(w->program);
	free(w->stack);
	w->program = w->stack = NULL;
}

int hook_warden_require(struct hook_warden *w, struct fault *f)
{
	int r = w->ready ? 0 : warden_channel_wait_ready(w->line, READY_MS, f);

	w->ready = r >= 0;
	return r < 0 ? fault_wrap(f, r, "custody-warden at '%s' is damaged (run 'make install')", w->program)
		     : 0;
}

int hook_warden_release(struct hook_warden *w, const struct warden_request *order, const int fds[WARDEN_FDS],
			struct fault *f)
{
	int r;

	r = hook_warden_require(w, f);
	if (r >= 0)
		r = warden_channel_send(w->line, order, fds, f);
	if (r >= 0)
		forget(w);
	return r;
}

void hook_warden_done(struct hook_warden *w)
{
	/* It has no order, so there is nothing that it could leave undone.  A child that is left to crun hides the end of its hook. */
	if (w->pid > 0) {
		(void)kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	forget(w);
}
