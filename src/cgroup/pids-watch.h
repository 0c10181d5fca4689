/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Forks that the limit of a cgroup refused.  The cgroup is a runtime's, which removes it with the container, so the counter is
 * opened at the start and read when the first process exits.
 */
struct pids_watch {
	int counter;	 /* pids.events; -EBADF: no watch */
	uint64_t before; /* of a cgroup that is older than the container */
	uint64_t last;	 /* as read last */
};
#define PIDS_WATCH_NONE ((struct pids_watch){ .counter = -EBADF })

/* Watches the cgroup of PID, unless it is ours. */
void pids_watch_open(struct pids_watch *w, pid_t pid);
/* How many were refused; the last number that was read, if the cgroup is gone. */
uint64_t pids_watch_read(struct pids_watch *w);
void pids_watch_done(struct pids_watch *w);
