/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-engine.h"

#include <signal.h>
#include <sys/syscall.h>
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
}

/* Before the process is released.  Asked again, by a runtime whose predecessor died: the same answer. */
static const char *start(struct container_watch *w)
{
	if (!w->started && !w->denied)
		container_watch_start(w);
	return w->denied ? fault_text(&w->why) : NULL;
}

static const char *released(struct container_watch *w)
{
	if (!w->started)
		return "the start was not asked for";
	w->unreleased = false;
	return NULL;
}

const char *container_engine_answer(void *arg, const struct warden_call *m, int fds[WARDEN_CALL_FDS])
{
	struct container_watch *w = arg;

	(void)fds;
	switch (m->type) {
	case WARDEN_CALL_START:
		return start(w);
	case WARDEN_CALL_STARTED:
		return released(w);
	case WARDEN_CALL_EXEC:
	case WARDEN_CALL_NONE:
	case WARDEN_CALL_OK:
	case WARDEN_CALL_REFUSED:
		break;
	}
	return "custody-warden does not know this message";
}
