/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-engine.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

void container_engine_begin(struct container_watch *w)
{
	int next = WARDEN_TREE;

	w->call.listener = WARDEN_CALL;
	if (w->request.tree)
		w->held.tree = next++;
	if (w->request.upper)
		w->held.upper = next++;
	w->parent = warden_request_parent(&w->request);
	container_unasked_begin(&w->unasked, WARDEN_PIDFD, w->request.pid, w->request.exe_dev,
				w->request.exe_ino);
}

/* The program runs, or ran: that is a start, which uses up its approval, and a violation. */
static void record_unasked(struct container_watch *w)
{
	container_watch_start(w);
	w->violated = true;
	fault_done(&w->why);
	(void)fault_set(
		&w->why, EPERM,
		"the container was started by another program than custody-runtime, without being asked for");
	(void)syscall(SYS_pidfd_send_signal, WARDEN_PIDFD, SIGKILL, NULL, 0);
}

static bool waits(const struct container_watch *w)
{
	return w->request.kind == WARDEN_ENGINE && !w->started && !w->denied;
}

/* Before the process is released.  Asked again, by a runtime whose predecessor died: the same answer. */
static const char *start(struct container_watch *w)
{
	if (w->violated || w->denied)
		return fault_text(&w->why);
	if (w->started)
		return NULL;
	w->denied = container_layers_prove(&w->layers, &w->request, &w->layer_words, &w->why) < 0;
	w->refused = "layer";
	if (!w->denied && container_broker_start(w, &w->why) < 0) {
		w->denied = true;
		w->refused = "setup-failed";
	}
	if (!w->denied)
		container_watch_start(w);
	return w->denied ? fault_text(&w->why) : NULL;
}

/* It runs without a layer: that must not go on. */
static const char *judge(struct container_watch *w, int r)
{
	if (r >= 0 || r == -EAGAIN)
		return NULL;
	w->violated = true;
	(void)syscall(SYS_pidfd_send_signal, WARDEN_PIDFD, SIGKILL, NULL, 0);
	return fault_text(&w->why);
}

static const char *released(struct container_watch *w)
{
	if (!w->started)
		return "the start was not asked for";
	return w->violated ? fault_text(&w->why) : judge(w, container_layers_wait(&w->layers, &w->why));
}

void container_engine_look(struct container_watch *w)
{
	_cleanup_fault_ struct fault why = { 0 };
	int r;

	if (waits(w) && container_unasked_look(&w->unasked, WARDEN_PIDFD, w->request.pid))
		record_unasked(w);
	r = container_layers_look(&w->layers, &why);

	if (r >= 0 || r == -EAGAIN)
		return;
	(void)fault_set(&w->why, -r, "%s", fault_text(&why));
	(void)judge(w, r);
}

/* A process that waits can only be killed: signals that it has no handler for do not reach the first process of a namespace. */
static bool has_run(const struct container_watch *w)
{
	const int status = w->end_status;

	return w->end_seen && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void container_engine_end(struct container_watch *w)
{
	if (waits(w) && (has_run(w) || container_unasked_look(&w->unasked, WARDEN_PIDFD, w->request.pid)))
		record_unasked(w);
}

const char *container_engine_answer(void *arg, const struct warden_call *m, int fds[WARDEN_CALL_FDS])
{
	struct container_watch *w = arg;

	switch (m->type) {
	case WARDEN_CALL_START:
		return start(w);
	case WARDEN_CALL_STARTED:
		return released(w);
	case WARDEN_CALL_EXEC:
		return container_exec_add(w, m, fds);
	case WARDEN_CALL_NONE:
	case WARDEN_CALL_OK:
	case WARDEN_CALL_REFUSED:
		break;
	}
	return "custody-warden does not know this message";
}
