/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>

#include "base/fault.h"
#include "container/container-info.h"

/*
 * A container of another runtime whose warden died. An unsupervised container must not continue: it is killed. Before
 * that its worktree is opened again if possible, because the warden's descriptors of it are lost.
 */
struct container_orphan {
	struct container_info info;
	int tree;	 /* -EBADF: WHY is the reason */
	int upper;	 /* of an engine's container, -EBADF: none */
	const char *why; /* NULL: TREE is open */
};
#define CONTAINER_ORPHAN_NONE ((struct container_orphan){ .tree = -EBADF, .upper = -EBADF })

/* SESSIONFD is the dead session's directory. 1: such a container, now dead; 0: a run of custody itself. */
int container_orphan_end(int sessionfd, struct container_orphan *ret, struct fault *f) _must_check_;
void container_orphan_done(struct container_orphan *o);
#define _cleanup_container_orphan_ _cleanup_(container_orphan_done)
