/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/* One place below a container's root, seen from inside its mount namespace before it becomes "/". */
struct hook_attach_point {
	int rootfd;
	const char *target; /* absolute, resolved as if ROOTFD were "/" */
	bool is_dir;
	uid_t uid; /* owner of created mount points and of the new file system's root */
	gid_t gid;
};

/* All mounts are nosuid and nodev.  A missing target is created where the tree around it is discarded anyway. */
int hook_attach_tree(const struct hook_attach_point *at, int tree, struct fault *f) _must_check_;
int hook_attach_tmpfs(const struct hook_attach_point *at, uint64_t size, mode_t mode,
		      struct fault *f) _must_check_;

/* Hides the target: the null device over a file, an empty read-only directory over a directory. */
int hook_attach_mask(const struct hook_attach_point *at, struct fault *f) _must_check_;

/*
 * An overlay with the lower TREE and an upper on a private tmpfs of SIZE bytes (0: the kernel's default): empty at each
 * start, discarded with the container.  SEALED, unless negative, is a lower above TREE.  USERXATTR: created in a user
 * namespace.  RET_UPPER: NULL, or gets the upper, which cannot be opened later.
 */
int hook_attach_overlay(const struct hook_attach_point *at, int tree, int sealed, uint64_t size,
			bool userxattr, int *ret_upper, struct fault *f) _must_check_;

/* An overlay of TREE alone, read-only: sockets and FIFOs in it are not the host's. */
int hook_attach_read_only(const struct hook_attach_point *at, int tree, struct fault *f) _must_check_;

/* TREE with the lower SEALED above it, read-only. */
int hook_attach_sealed(const struct hook_attach_point *at, int tree, int sealed, bool userxattr,
		       struct fault *f) _must_check_;
