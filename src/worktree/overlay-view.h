/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/fault.h"

/*
 * A worktree with a frozen upper above it, read-only, as the kernel shows it: the files that a continued run will find.
 * The mount belongs to a process of its own, in a mount namespace (for a user also a user namespace) that ends with it;
 * only the descriptor keeps it.  docs/design/continue.md.
 *
 * Returns a descriptor of its root; *RET_DIGEST: overlay_manifest_digest() of the upper.
 */
struct overlay_view_ask {
	int layer;	  /* the frozen upper, and its path: */
	const char *path; /* the caller's own directory */
	const char *worktree;
};
int overlay_view_open(const struct overlay_view_ask *ask, struct digest *ret_digest,
		      struct fault *f) _must_check_;
