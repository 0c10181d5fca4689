/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>

#include "base/array.h"
#include "base/fd.h"
#include "warden/warden-state.h"

/*
 * A SIGHUP that the parent ignores (nohup) stays ignored. SIGINT does not: shells ignore it for every background job,
 * but a user may send it explicitly.
 */
static void stop_signals(sigset_t *set)
{
	static const int stopping[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction sa;

	(void)sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(stopping); i++)
		if (stopping[i] != SIGHUP || (sigaction(SIGHUP, NULL, &sa) == 0 && sa.sa_handler != SIG_IGN))
			(void)sigaddset(set, stopping[i]);
}

int warden_hold_signals(sigset_t *ret_before, struct fault *f)
{
	sigset_t set;

	stop_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, ret_before) < 0)
		return fault_errno(f, errno, "block signals");
	return 0;
}

void warden_release_signals(const sigset_t *before, bool over)
{
	sigset_t set;

	stop_signals(&set);
	while (over && sigtimedwait(&set, NULL, &(struct timespec){ 0 }) > 0)
		;
	(void)sigprocmask(SIG_SETMASK, before, NULL);
}

int warden_block_signals(struct warden *w, struct fault *f)
{
	sigset_t set;

	stop_signals(&set);
	(void)sigaddset(&set, SIGWINCH);
	if (sigprocmask(SIG_BLOCK, &set, &w->old_mask) < 0)
		return fault_errno(f, errno, "block signals");
	w->masked = true;
	/* A closed reader of our output is an error of write(), and must not kill us. */
	(void)sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, &w->old_pipe);
	w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w->signal_fd < 0)
		return fault_errno(f, errno, "signalfd");
	return 0;
}

void warden_unblock_signals(struct warden *w)
{
	w->signal_fd = fd_close(w->signal_fd);
	if (!w->masked)
		return;
	(void)sigaction(SIGPIPE, &w->old_pipe, NULL);
	(void)sigprocmask(SIG_SETMASK, &w->old_mask, NULL);
}
