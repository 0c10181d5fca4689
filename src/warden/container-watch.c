/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "container/container-note.h"
#include "subject/placement.h"
#include "warden/pidfd-status.h"

#define CHECK_AGAIN_MS 1 /* an exec whose file was just opened is finished by then, or the next time */
#define CHECKS_MAX 2000	 /* then another process opened the file */
#define ZOMBIE_MS 10000	 /* how long a parent may leave it unreaped before its end counts as lost */

static int open_places(struct container_watch *w, struct fault *f)
{
	int r;

	r = dirs_load_lane(w->request.lane, &w->dirs, f);
	if (r >= 0)
		r = config_load(&w->dirs, &w->config, f);
	w->decision.dirs = &w->dirs;
	return r < 0 ? r : decision_resume(&w->decision, w->config, &w->request, WARDEN_CLAIM, f);
}

/* Is the first process our init now?  Its arguments are ours from the moment of the exec, and readable by all users. */
static bool is_started(const struct container_watch *w)
{
	_cleanup_close_ int fd = -EBADF;
	char path[40], text[sizeof(INIT_PATH)];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)w->request.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	return n == (ssize_t)sizeof(text) && memcmp(text, INIT_PATH, sizeof(text)) == 0;
}

static void kill_container(struct container_watch *w)
{
	w->denied = true;
	(void)syscall(SYS_pidfd_send_signal, WARDEN_PIDFD, SIGKILL, NULL, 0);
}

/* Once: later messages, under the same container id, are not about this container. */
static void receive_worktree(struct container_watch *w)
{
	if (w->held.tree >= 0 || warden_handover_receive(WARDEN_HANDOVER, &w->held, NULL) != 1)
		return;
	warden_handover_shut(WARDEN_SESSION, w->request.container);
	warden_backup_hold(&w->backup, &w->held);
}

/* The worktree is mounted before the start and passed when it is mounted.  Without init the moment is unknown. */
static bool is_unheld(const struct container_watch *w)
{
	return w->held.tree < 0 && w->request.init && !w->ended;
}

static void write_note(const struct container_watch *w)
{
	(void)!container_note_begin(&(struct container_begin){ .dirs = &w->dirs,
							       .config = w->config,
							       .session = w->request.session,
							       .dir = WARDEN_SESSION,
							       .started_us = w->began_us },
				    NULL);
}

/* The payload is a few hundred microseconds away, behind init's proofs: a failure kills the container. */
static void on_start(struct container_watch *w)
{
	_cleanup_fault_ struct fault f = { 0 };
	int r;

	receive_worktree(w);
	if (is_unheld(w)) {
		w->unheld = true;
		kill_container(w);
		/* The check may be late: a grant must never be returned by a container that ran. */
		(void)!decision_consume(&w->decision, &f);
		return;
	}
	w->started = true;
	/* A user has few inotify instances, 128 by default: only containers that have not started hold one. */
	(void)close(WARDEN_WATCH);
	w->began_ns = clock_boot_ns();
	w->began_us = clock_wall_us();
	r = decision_consume(&w->decision, &f);
	if (r >= 0)
		r = decision_start(&w->decision, w->request.pid, NULL, &f);
	if (r < 0) {
		kill_container(w);
		return;
	}
	if (!w->ended)
		oom_watch_open(&w->oom, w->request.pid, false);
	write_note(w);
}

static void check_start(struct container_watch *w)
{
	if (w->started || w->denied)
		return;
	if (is_started(w))
		on_start(w);
	else if (w->checks > 0)
		w->checks--;
}

static void on_open(struct container_watch *w)
{
	char events[4096];

	while (read(WARDEN_WATCH, events, sizeof(events)) > 0) {
		w->opened = true;
		w->checks = CHECKS_MAX;
	}
	check_start(w);
}

/* Milliseconds until something is due without an event. */
static int next_due(struct container_watch *w)
{
	if (w->checks > 0 && !w->started)
		return CHECK_AGAIN_MS;
	return w->decision.started ? decision_tick(&w->decision) : -1;
}

/* Dead, perhaps not reaped yet: a zombie shows its status to root; else the kernel reports it afterwards. */
static void on_exit_of_first(struct container_watch *w)
{
	struct pollfd p = { .fd = WARDEN_PIDFD };
	int r;

	w->zombie_seen = pidfd_end_zombie(w->request.pid, &w->zombie_status);
	do
		r = w->zombie_seen ? 0 : poll(&p, 1, ZOMBIE_MS);
	while (r < 0 && errno == EINTR);
	w->ended = true;
}

/*
 * Exited before its start was seen.  Nothing can be executed that was not opened: if init's file was not opened it did not
 * start; if it was, it counts as started, for a grant must never be returned by a container that ran.
 */
static void settle_start(struct container_watch *w)
{
	if (!w->started && !w->denied)
		on_open(w);
	if (!w->started && !w->denied && w->opened)
		on_start(w);
}

static void supervise(struct container_watch *w)
{
	while (!w->ended) {
		struct pollfd p[] = { { .fd = WARDEN_PIDFD, .events = POLLIN },
				      { .fd = w->started || w->denied ? -1 : WARDEN_WATCH, .events = POLLIN },
				      { .fd = w->held.tree < 0 ? WARDEN_HANDOVER : -1, .events = POLLIN },
				      { .fd = w->oom.event, .events = oom_watch_events(&w->oom) } };
		int r = poll(p, 4, next_due(w));

		if (r < 0 && errno != EINTR)
			return;
		if (r > 0 && p[2].revents)
			receive_worktree(w);
		if (r > 0 && p[3].revents)
			oom_watch_read(&w->oom);
		if (r > 0 && p[1].revents)
			on_open(w);
		else
			check_start(w);
		if (r > 0 && p[0].revents)
			on_exit_of_first(w);
	}
	settle_start(w);
}

int container_watch_run(struct container_watch *w, struct fault *f)
{
	int r;

	r = warden_backup_start(&w->backup, &w->request, f);
	if (r >= 0)
		r = open_places(w, f);
	if (r < 0)
		return r;
	/* Runtimes have moved it into its cgroup by now; if one has not, it is opened again at the start. */
	oom_watch_open(&w->oom, w->request.pid, true);
	if (!w->request.init)
		on_start(w);
	supervise(w);
	return container_end_record(w, f);
}

void container_watch_done(struct container_watch *w)
{
	decision_done(&w->decision);
	config_free(w->config);
	dirs_done(&w->dirs);
	warden_request_done(&w->request);
	warden_held_done(&w->held);
	oom_watch_done(&w->oom);
}
