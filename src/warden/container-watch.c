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
#include "cgroup/cgroup-leave.h"
#include "base/fd.h"
#include "base/pidfd-status.h"
#include "base/str.h"
#include "container/container-note.h"
#include "container/warden-channel.h"
#include "warden/container-engine.h"
#include "warden/container-sweep.h"
#include "warden/parent-status.h"

#define REFUSED_MS 2000 /* how long a refused init may take to report it and exit */
#define ZOMBIE_MS 10000 /* how long a parent may leave it unreaped before its end counts as lost */

static int open_places(struct container_watch *w, struct fault *f)
{
	int r;

	r = dirs_load_lane(w->request.lane, &w->dirs, f);
	if (r >= 0)
		r = config_load(&w->dirs, &w->config, f);
	w->decision.dirs = &w->dirs;
	return r < 0 ? r : decision_resume(&w->decision, w->config, &w->request, WARDEN_CLAIM, f);
}

static void kill_container(void)
{
	(void)syscall(SYS_pidfd_send_signal, WARDEN_PIDFD, SIGKILL, NULL, 0);
}

/* Once: later messages, under the same container id, are not about this container. */
static void receive_worktree(struct container_watch *w)
{
	if (w->held.tree >= 0 || warden_handover_receive(WARDEN_HANDOVER, &w->held, NULL) != 1)
		return;
	warden_handover_shut(WARDEN_SESSION, w->request.container);
	warden_backup_hold(&w->backup, &w->held);
	container_gate_take(&w->gate, &w->held);
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

/* The record of the start precedes the payload; a failure is the reason of a refusal. */
static int record_start(struct container_watch *w, struct fault *f)
{
	int r;

	r = decision_consume(&w->decision, f);
	w->refused = r == -EACCES ? "approval" : "setup-failed";
	if (r >= 0)
		r = decision_start(&w->decision, w->request.pid, w->layer_words, f);
	return r < 0 ? r : ledger_sync(w->decision.ledger, f);
}

static void on_start(struct container_watch *w)
{
	w->began_ns = clock_boot_ns();
	w->began_us = clock_wall_us();
	if (record_start(w, &w->why) < 0) {
		w->denied = true;
		return;
	}
	w->started = true;
}

/* Behind the payload's start: nothing of it waits for these. */
static void after_start(struct container_watch *w)
{
	if (!w->ended) {
		oom_watch_open(&w->oom, w->request.pid, false);
		pids_watch_open(&w->pids, w->request.pid);
	}
	write_note(w);
}

void container_watch_start(struct container_watch *w)
{
	on_start(w);
	if (!w->denied)
		after_start(w);
}

static void on_ready(struct container_watch *w)
{
	on_start(w);
	if (w->denied) {
		(void)!container_gate_answer(&w->gate, fault_text(&w->why));
		return;
	}
	w->unreleased = !container_gate_answer(&w->gate, NULL);
	after_start(w);
}

/* -1: never. */
static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Milliseconds until something is due without an event. */
static int next_due(struct container_watch *w)
{
	int due = container_layers_due_ms(&w->layers);

	if (w->denied)
		return REFUSED_MS;
	if (w->request.kind == WARDEN_ENGINE && !w->started)
		return container_unasked_due_ms(&w->unasked);
	due = sooner(due, container_exec_due_ms(&w->execs));
	return sooner(due, w->decision.started ? decision_tick(&w->decision) : -1);
}

/* A zombie shows its status to root. */
static bool see_zombie(struct container_watch *w)
{
	w->end_source = EXIT_SOURCE_PROC;
	/* The zombie had this pid only if it is not reaped even now. */
	return pidfd_end_zombie(w->request.pid, &w->end_status) && pidfd_is_unreaped(WARDEN_PIDFD);
}

/* Dead, perhaps not reaped yet; else the kernel reports its status afterwards. */
static void on_exit_of_first(struct container_watch *w)
{
	struct pollfd p = { .fd = WARDEN_PIDFD };
	int r;

	/* While the runtime has not removed its cgroup. */
	(void)pids_watch_read(&w->pids);
	w->end_source = EXIT_SOURCE_WAIT;
	w->end_seen = parent_status_read(&w->parent, ZOMBIE_MS, &w->end_status) || see_zombie(w);
	parent_status_release(&w->parent);
	do
		r = w->end_seen ? 0 : poll(&p, 1, ZOMBIE_MS);
	while (r < 0 && errno == EINTR);
	w->ended = true;
}

static void step_bundle(struct container_watch *w, const struct pollfd *p)
{
	if (p[2].revents)
		receive_worktree(w);
	if (p[0].revents)
		container_gate_accept(&w->gate, WARDEN_PIDFD, w->request.pid);
	if (p[1].revents && container_gate_is_ready(&w->gate))
		on_ready(w);
}

#define OWN 3 /* descriptors before those of the kind */
#define POLLS (OWN + CONTAINER_CALL_POLLS + CONTAINER_EXECS)

/* Fills P; returns their number. */
static nfds_t wait_for(const struct container_watch *w, struct pollfd p[POLLS])
{
	p[0] = (struct pollfd){ .fd = WARDEN_PIDFD, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = w->oom.event, .events = oom_watch_events(&w->oom) };
	p[2] = container_broker_poll(&w->broker);
	p += OWN;
	if (w->request.kind == WARDEN_ENGINE) {
		container_call_poll(&w->call, p);
		container_exec_poll(&w->execs, p + CONTAINER_CALL_POLLS);
		return POLLS;
	}
	p[0] = (struct pollfd){ .fd = w->gate.listener, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = w->gate.peer, .events = POLLIN };
	p[2] = (struct pollfd){ .fd = w->held.tree < 0 ? WARDEN_HANDOVER : -1, .events = POLLIN };
	return OWN + 3;
}

static void step_engine(struct container_watch *w, const struct pollfd *p)
{
	container_exec_look(w);
	container_exec_step(w, p + CONTAINER_CALL_POLLS);
	container_call_step(&w->call, p, container_engine_answer, w);
}

/* Once the start was answered: nothing waits for it. */
static void sweep_once(struct container_watch *w)
{
	if (!w->started || w->swept)
		return;
	w->swept = true;
	container_sweep_start(w->request.lane);
}

static void supervise(struct container_watch *w)
{
	while (!w->ended) {
		struct pollfd p[POLLS];
		int r = poll(p, wait_for(w, p), next_due(w));

		if (r < 0 && errno != EINTR)
			return;
		if (r == 0 && w->denied)
			kill_container();
		container_engine_look(w);
		if (r > 0 && p[1].revents)
			oom_watch_read(&w->oom);
		if (r > 0 && p[2].revents)
			container_broker_step(w);
		if (r >= 0 && w->request.kind == WARDEN_ENGINE)
			step_engine(w, p + OWN);
		else if (r > 0)
			step_bundle(w, p + OWN);
		if (r > 0 && p[0].revents)
			on_exit_of_first(w);
		sweep_once(w);
	}
}

/* Its start cannot be observed: it is recorded now, while the hook still waits and the container cannot start. */
static int start_without_init(struct container_watch *w, struct fault *f)
{
	on_start(w);
	if (w->denied) {
		kill_container();
		return 0;
	}
	after_start(w);
	return warden_channel_send_ready(WARDEN_CHANNEL, f);
}

int container_watch_run(struct container_watch *w, struct fault *f)
{
	int r;

	if (w->request.kind == WARDEN_ENGINE) {
		cgroup_leave(w->request.pid);
		container_engine_begin(w);
	}
	r = warden_backup_start(&w->backup, &w->request, &w->held, f);
	if (r >= 0)
		r = open_places(w, f);
	if (r < 0)
		return r;
	/* Runtimes have moved it into its cgroup by now; if one has not, it is opened again at the start. */
	oom_watch_open(&w->oom, w->request.pid, true);
	pids_watch_open(&w->pids, w->request.pid);
	if (w->request.kind == WARDEN_BUNDLE && !w->request.init)
		r = start_without_init(w, f);
	/* The hook has its answer, or needs none. */
	(void)close(WARDEN_CHANNEL);
	if (r < 0)
		return r;
	supervise(w);
	container_engine_end(w);
	/* The caller of `start` must not wait for the evidence. */
	container_call_done(&w->call);
	container_exec_finish(w);
	container_broker_end(w);
	return container_end_record(w, f);
}

void container_watch_done(struct container_watch *w)
{
	decision_done(&w->decision);
	config_free(w->config);
	dirs_done(&w->dirs);
	warden_request_done(&w->request);
	warden_held_done(&w->held);
	container_gate_done(&w->gate);
	container_call_done(&w->call);
	broker_done(&w->broker.process);
	container_layers_done(&w->layers);
	container_exec_done(&w->execs);
	parent_status_release(&w->parent);
	strv_free(w->layer_words);
	fault_done(&w->why);
	oom_watch_done(&w->oom);
	pids_watch_done(&w->pids);
}
