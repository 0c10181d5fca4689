/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/* One place below a container's root, seen from inside its mount namespace before it becomes "/". */
struct attach_point {
	int rootfd;
	const char *target; /* absolute, resolved as if ROOTFD were "/" */
	bool is_dir;
	uid_t uid; /* who owns what has to be made, and the new file system's root */
	gid_t gid;
};

/* All mounts are nosuid and nodev.  A missing target is made when what lies there is thrown away anyway. */
int attach_tree(const struct attach_point *at, int tree, struct fault *f) _must_check_;
int attach_tmpfs(const struct attach_point *at, uint64_t size, mode_t mode, struct fault *f) _must_check_;

/* Nothing of what is there: the null device over a file, an empty read-only directory over a directory. */
int attach_mask(const struct attach_point *at, struct fault *f) _must_check_;

/*
 * An overlay whose lower layer is TREE and whose upper layer is a tmpfs of SIZE bytes (0: the kernel's default) that
 * nothing else can reach: fresh at each start, gone with the container.  SEALED, unless negative, is a layer between
 * the two.  USERXATTR: made in a user namespace.  RET_UPPER: NULL, or gets the upper layer, which nobody can open later.
 */
int attach_overlay(const struct attach_point *at, int tree, int sealed, uint64_t size, bool userxattr,
		   int *ret_upper, struct fault *f) _must_check_;

/* TREE with the layer SEALED on top, read-only. */
int attach_sealed(const struct attach_point *at, int tree, int sealed, bool userxattr,
		  struct fault *f) _must_check_;
