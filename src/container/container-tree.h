/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "container/warden-handover.h"
#include "profile/profile.h"

/*
 * The worktree of an engine's container, found in its mount namespace: everything that the engine mounts is there once the
 * runtime has created the container, and no process of the container has run yet.
 *
 * A worktree of "/" is the container's root.  Then only what changed is of interest, the upper, never the whole image.
 */
struct container_tree {
	struct warden_held
		held; /* UPPER is that of the root's overlay: changes of WORK are below it, at the same path */
	enum profile_workspace mode;
};
#define CONTAINER_TREE_NONE \
	((struct container_tree){ .held = WARDEN_HELD_NONE, .mode = PROFILE_WORKSPACE_RW })

/*
 * PID: the container's first process, pinned by the caller's pidfd.  WORK is a path inside.  0 without descriptors: the
 * changes of a root cannot be told from the image (CONTAINER_TREE_NO_UPPER).  Negative: WORK cannot be opened.
 */
int container_tree_open(pid_t pid, const char *work, struct container_tree *ret,
			struct fault *f) _must_check_;
#define CONTAINER_TREE_NO_UPPER                                                                           \
	"the worktree is the container's root, which is no overlay: its changes cannot be told from the " \
	"image; to "                                                                                      \
	"keep a directory, set the annotation custody.worktree"

/* The directory with the changes of WORK in the root's UPPER; -ENOENT: nothing was changed there. */
int container_tree_open_changes(int upper, const char *work, struct fault *f) _must_check_;
