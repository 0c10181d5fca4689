/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "container/warden-request.h"

/*
 * The custody-warden of the container that is being judged.  It is executed before anything is reserved, because a
 * reservation belongs to a process that lives as long as the session does, and early, because that takes its time; until it gets its order it only waits, and ends
 * with us.
 */
struct hook_warden {
	pid_t pid;
	int line; /* to it, container/warden-channel.h */
	/* Its until it is executed: */
	int far; /* the other end; the number in its table */
	char *program;
	char *stack;
	bool ready;
};
#define HOOK_WARDEN_NONE ((struct hook_warden){ .pid = -1, .line = -EBADF })

/* Returns while it is still being executed. */
int hook_warden_start(struct hook_warden *w, const char *libexec, struct fault *f) _must_check_;

int hook_warden_require(struct hook_warden *w,
			struct fault *f) _must_check_; /* waits until it says that it is there */

/* The order is sent only to one that is there.  From then on it stands by itself, whatever becomes of us. */
int hook_warden_release(struct hook_warden *w, const struct warden_request *order, const int fds[WARDEN_FDS],
			struct fault *f) _must_check_;

void hook_warden_done(struct hook_warden *w); /* one that was not released is ended, and collected */
