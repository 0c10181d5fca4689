/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"
#include "base/process.h"
#include "container/warden-channel.h"
#include "warden/container-watch.h"
#include "warden/warden-protect.h"

/* custody-warden: executed by `custody-hook approve` or custody-runtime with one socket, over which its request comes. */

#define DESCRIPTORS 1024

/* Drop inherited pipes and the controlling terminal. */
static int detach(struct fault *f)
{
	_cleanup_close_ int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return fault_errno(f, errno, "open '/dev/null'");
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			return fault_errno(f, errno, "standard streams");
	if (setsid() < 0 || chdir("/") < 0)
		return fault_errno(f, errno, "leave the caller's session");
	return 0;
}

/* Received in one message with nothing else open: their numbers are fixed. */
static int require_places(const struct warden_request *rq, const int fds[WARDEN_FDS_MAX], struct fault *f)
{
	for (int i = 0; i < (int)warden_request_fds(rq); i++) {
		int place = i < WARDEN_FDS ? WARDEN_PIDFD + i : WARDEN_TREE + i - WARDEN_FDS;

		if (fds[i] != place)
			return fault_set(f, EPROTO, "descriptor %d was received as %d", place, fds[i]);
	}
	return 0;
}

/*
 * A failure has no reader.  Recovery finds the claim; the container must not go on.  The session is unlocked before the
 * kill: a caller that waits for the container must not find it locked by an exiting process.
 */
static void abandon(struct container_watch *w, const int fds[WARDEN_FDS_MAX])
{
	w->decision.claim.fd = -EBADF;
	w->held = WARDEN_HELD_NONE;
	w->call.listener = -EBADF;
	w->parent = -EBADF;
	for (int i = 1; i < WARDEN_FDS_MAX; i++)
		(void)fd_close(fds[i]);
	(void)syscall(SYS_pidfd_send_signal, fds[0], SIGKILL, NULL, 0);
}

/* Once the request is sent the container may run. */
static int serve(struct container_watch *w, struct fault *f)
{
	int fds[WARDEN_FDS_MAX], r;

	r = warden_channel_receive(WARDEN_CHANNEL, &w->request, fds, f);
	/* Up to here the hook had precedence (container/warden-start.c). */
	if (sched_getscheduler(0) == SCHED_BATCH)
		(void)sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	if (r == 0)
		return 0;
	if (r > 0)
		r = require_places(&w->request, fds, f);
	if (r >= 0)
		r = container_watch_run(w, f);
	if (r < 0 && !w->ended)
		abandon(w, fds);
	return r;
}

/* The caller's limit: without descriptors neither a process nor a connection can be looked at, and a program is killed for it. */
static void raise_descriptors(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= DESCRIPTORS)
		return;
	l.rlim_cur = l.rlim_max < DESCRIPTORS ? l.rlim_max : DESCRIPTORS;
	(void)setrlimit(RLIMIT_NOFILE, &l);
}

int main(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_(container_watch_done) struct container_watch w = CONTAINER_WATCH_NONE;
	struct stat st;
	sigset_t none;
	int r;

	if (fstat(WARDEN_CHANNEL, &st) < 0 || !S_ISSOCK(st.st_mode)) {
		fprintf(stderr, "custody-warden is started by custody-hook\n");
		return STATUS_USAGE;
	}
	process_forbid_core();
	raise_descriptors();
	/* Before: the files of a process that is not dumpable belong to root. */
	warden_protect();
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	umask(077);
	r = fd_sanitize(&f);
	if (r >= 0)
		r = detach(&f);
	if (r >= 0)
		r = warden_channel_send_ready(WARDEN_CHANNEL, &f);
	if (r >= 0)
		r = serve(&w, &f);
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}
