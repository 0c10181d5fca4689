/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "container/warden-handover.h"
#include "container/warden-request.h"

/*
 * The second half of custody-warden, a child of the first: it has the same locks and the same worktree and does nothing,
 * until the first half dies without having told the end.  Then nobody watches the container any more: it is killed,
 * its changes are kept, and its end is told as `lost`.
 */
struct warden_backup {
	int fd; /* to it; -EBADF: there is none */
};
#define WARDEN_BACKUP_NONE ((struct warden_backup){ .fd = -EBADF })

/* Returns twice; the child never returns from it.  ORDER as warden_request_parse takes it. */
int warden_backup_start(struct warden_backup *k, const struct warden_request *order,
			struct fault *f) _must_check_;
void warden_backup_hold(struct warden_backup *k, const struct warden_held *h); /* it holds them too */
void warden_backup_end(struct warden_backup *k);			       /* the end is told */
