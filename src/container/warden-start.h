/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "container/warden-request.h"

/*
 * The custody-warden of the container that is being judged.  It is executed before anything is reserved, because a
 * reservation belongs to a process that lives as long as the session, and early, because its start takes time.  Until it
 * gets its request it waits, and it exits with the hook.
 */
struct warden_start {
	pid_t pid;
	/* Set before warden_start_begin: the caller stays as long as the container, and who kills the caller with all of its
	 * descendants (Slurm) must not kill the warden. */
	bool apart;
	int channel; /* to it, container/warden-channel.h */
	/* Used by the child until exec: */
	int far; /* its end of the channel, as a number of its own table */
	char *program;
	char *stack;
	bool ready;
};
#define WARDEN_START_NONE ((struct warden_start){ .pid = -1, .channel = -EBADF })

/* Returns while it is still being executed. */
int warden_start_begin(struct warden_start *w, const char *libexec, struct fault *f) _must_check_;

int warden_start_require(struct warden_start *w,
			 struct fault *f) _must_check_; /* waits until it reports ready */

/*
 * The request is sent to a warden that has reported ready.  From then on it is independent of the hook: PID is -1, also if
 * it then fails to record the start of a container without init; it records that refusal itself.
 */
int warden_start_release(struct warden_start *w, const struct warden_request *rq, const int *fds,
			 struct fault *f) _must_check_;

void warden_start_done(
	struct warden_start *w); /* one that was not released ends: killed and reaped, or apart */
