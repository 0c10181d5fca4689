/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "session/stop-signal.h"
#include "warden/warden-state.h"

/* The whole cgroup, and the first process: the kernel kills its pid namespace with it. */
void warden_kill(struct warden *w)
{
	if (w->join) {
		w->kill_at = 0;
		warden_join_kill(w);
		return;
	}
	(void)!cgroup_kill(w->job->cgroup, NULL);
	if (w->init_pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, w->init_pidfd, SIGKILL, NULL, 0);
	w->kill_at = 0;
}

void warden_abort(struct warden *w)
{
	/* Before the release: init reads end of file from its socket and executes nothing. */
	w->init_fd = fd_close(w->init_fd);
	warden_kill(w);
}

void warden_terminate(struct warden *w, int sig, uint64_t grace_s)
{
	struct init_msg m = { .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_SIGNAL, .value = sig };

	/* It may run already: its own output can arrive before the message that it was executed. */
	if (w->join && w->phase == WARDEN_RELEASED) {
		w->join_signal = sig;
		if (w->kill_at == 0)
			warden_arm(&w->kill_at, grace_s * 1000);
		return;
	}
	if (w->phase < WARDEN_RUNNING || w->init_fd < 0) {
		warden_abort(w);
		return;
	}
	if (send(w->init_fd, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		warden_kill(w);
	if (w->kill_at == 0)
		warden_arm(&w->kill_at, grace_s * 1000);
}

/* Of several stops the shortest grace counts. */
static void stop(struct warden *w, uint32_t grace_s)
{
	uint64_t at;

	if (grace_s == STOP_GRACE_PROFILE)
		grace_s = (uint32_t)w->job->subject->profile->limit_grace_s;
	warden_arm(&at, (uint64_t)grace_s * 1000);
	if (!w->facts.stopped && !w->facts.cancelled) {
		w->facts.stopped = true;
		warden_terminate(w, SIGTERM, grace_s);
	} else if (w->kill_at && at < w->kill_at) {
		w->kill_at = at;
	}
	if (grace_s == 0)
		warden_kill(w);
}

void warden_on_signal(struct warden *w)
{
	struct signalfd_siginfo si;

	while (read(w->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		int sig = (int)si.ssi_signo;
		uint32_t grace_s;

		if (sig == SIGWINCH) {
			terminal_resize(&w->tty);
		} else if (w->phase == WARDEN_OVER) {
			w->skip_output = true;
		} else if (stop_signal_is(&si, &grace_s)) {
			stop(w, grace_s);
		} else if (w->facts.cancelled || w->facts.stopped) {
			/* A second signal: no more grace. */
			warden_kill(w);
		} else {
			w->facts.cancelled = sig;
			warden_terminate(w, sig, w->job->subject->profile->limit_grace_s);
		}
	}
}
