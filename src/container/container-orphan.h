/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>

#include "base/fault.h"
#include "container/container-info.h"

/*
 * A container of another runtime whose warden died.  What nobody watches must not go on: it is killed, and its worktree,
 * which went with the warden's descriptors, is held before that as far as it can still be reached.
 */
struct container_orphan {
	struct container_info info;
	int tree;	 /* -EBADF: WHY says why */
	const char *why; /* NULL: it was there */
};
#define CONTAINER_ORPHAN_NONE ((struct container_orphan){ .tree = -EBADF })

/* SESSIONFD is the dead session's directory.  1: it was such a container, and it is dead now; 0: a run of custody's own. */
int container_orphan_end(int sessionfd, struct container_orphan *ret, struct fault *f) _must_check_;
void container_orphan_done(struct container_orphan *o);
#define _cleanup_container_orphan_ _cleanup_(container_orphan_done)
