/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Detects an OOM kill in a cgroup that another runtime created: the runtime removes it when the container
 * exits, so its counters cannot be read afterwards. The kernel signals the kill when it happens.
 *
 * v2: a change of memory.events. v1: an eventfd of memory.oom_control, which is also signalled, once, when
 * the cgroup is removed.
 */
struct oom_watch {
	int counter; /* file with the counter; -EBADF: no watch */
	int event;   /* v1: the eventfd, v2: the same as COUNTER */
	bool v2;
	int64_t before;	  /* initial count, in a cgroup older than the container */
	bool seen;	  /* a higher count was read */
	uint64_t signals; /* v1: number of signals */
	uint64_t early;	  /* of these, while the cgroup existed: not its removal */
};
#define OOM_WATCH_NONE ((struct oom_watch){ .counter = -EBADF, .event = -EBADF })

/*
 * Watches the current cgroup of PID, unless it is ours; without one, W stays empty. FRESH: no process has run
 * in it.
 */
void oom_watch_open(struct oom_watch *w, pid_t pid, bool fresh);
short oom_watch_events(const struct oom_watch *w); /* for poll() of W->event */
void oom_watch_read(struct oom_watch *w);
/* After the exit. KILLED: the payload died by SIGKILL, so that an unclear state is worth a short wait. */
bool oom_watch_decide(struct oom_watch *w, bool killed);
void oom_watch_done(struct oom_watch *w);
