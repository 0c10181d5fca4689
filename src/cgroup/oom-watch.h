/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Whether the kernel killed for want of memory in a cgroup that is not ours: the runtime made it and removes it the moment
 * that the container is over, so its counters are gone when anybody wants to read them.  The kernel tells when it
 * happens; who listens knows.
 *
 * v2: a change of memory.events.  v1: an eventfd of memory.oom_control, which is also told, once, of the cgroup's end.
 */
struct oom_watch {
	int counter; /* the file that has the number; -EBADF: nothing is watched */
	int event;   /* v1: the eventfd, v2: the same as COUNTER */
	bool v2;
	int64_t before; /* the number, in a cgroup that was there before the container */
	bool seen;	/* a higher one was read */
	uint64_t told;	/* v1: how often */
	uint64_t early; /* of these, while the cgroup was there: not of its end */
};
#define OOM_WATCH_NONE ((struct oom_watch){ .counter = -EBADF, .event = -EBADF })

/* The cgroup that PID is in now, unless that is ours.  None that can be watched: nothing is.  FRESH: nothing has run in it. */
void oom_watch_open(struct oom_watch *w, pid_t pid, bool fresh);
short oom_watch_events(const struct oom_watch *w); /* for poll() of W->event */
void oom_watch_read(struct oom_watch *w);
/* After the end.  KILLED: somebody sent the payload a KILL, so that what is not clear is worth a moment's wait. */
bool oom_watch_decide(struct oom_watch *w, bool killed);
void oom_watch_done(struct oom_watch *w);
