/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "container/warden-handover.h"
#include "container/warden-request.h"

/*
 * The second process of custody-warden, a child of the first: it has the same locks and worktree descriptors and
 * waits. If the first is killed before it has recorded the end, the container is killed, its changes are captured,
 * and its end is recorded as `lost`.
 */
struct warden_backup {
	int fd; /* to it; -EBADF: none */
};
#define WARDEN_BACKUP_NONE ((struct warden_backup){ .fd = -EBADF })

/* Forks; the child does not return.  HELD: descriptors that are there already; borrowed. */
int warden_backup_start(struct warden_backup *k, const struct warden_request *rq,
			const struct warden_held *held, struct fault *f) _must_check_;
void warden_backup_hold(struct warden_backup *k,
			const struct warden_held *h); /* passes the descriptors to it */
void warden_backup_end(struct warden_backup *k);      /* the end is recorded: it exits */
