/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>

#include "base/fault.h"
#include "core/warden-order.h"

/*
 * The process that becomes custody-warden.  It is started before anything is reserved, because a reservation belongs to
 * a process that lives as long as the session does; until it is released it does nothing, and ends with us.
 */
struct hook_warden {
	pid_t pid;
	int socket; /* to it */
	struct nest *nest;
};
#define HOOK_WARDEN_NONE ((struct hook_warden){ .pid = -1, .socket = -EBADF })

int hook_warden_start(struct hook_warden *w, const char *libexec, struct fault *f) _must_check_;

/* Executes it, detached, with ORDER and the descriptors of core/warden-order.h; if that fails the container is killed. */
int hook_warden_release(struct hook_warden *w, const struct warden_order *order, const int fds[WARDEN_FDS],
			struct fault *f) _must_check_;

void hook_warden_done(struct hook_warden *w); /* one that was not released ends, and is collected */
