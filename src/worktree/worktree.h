/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * Mounts of one run, made by its creator as root in a mount namespace of its own: nothing here is ever seen by the
 * host, and all of it ends with the container.  Trees are cloned as descriptors first and moved to their place on a
 * private tmpfs afterwards, so a mount point may hide the very path that a tree came from.
 */

/* Our mounts stay here, the host's changes still arrive. */
int worktree_leave_host(struct fault *f) _must_check_;

/* An empty tmpfs, 0755, nosuid, nodev, on POINT.  *RET is its root directory. */
int worktree_mount_tmpfs(const char *point, int *ret, struct fault *f) _must_check_;

/* One id of a file system and who it becomes in a mount. */
struct worktree_ids {
	uid_t from_uid, to_uid;
	gid_t from_gid, to_gid;
};

/*
 * A detached clone of the mount at SOURCE (a directory or a file, without the mounts below it), nosuid and nodev,
 * read-only unless RW.  SOURCE is resolved: a link found in it now was put there since, and is refused.  With IDS its owner is mapped; -EOPNOTSUPP when the file system or the kernel cannot.
 */
int worktree_clone(const char *source, bool rw, const struct worktree_ids *ids, int *ret,
		   struct fault *f) _must_check_;

/* A user namespace of this one id, FROM inside and TO outside, as a descriptor. */
int worktree_open_userns(const struct worktree_ids *ids, int *ret, struct fault *f) _must_check_;

/*
 * Collects the processes that mapping left behind, which are dead or about to be: all children of the caller.  Waiting
 * for each at once would cost a switch to it and back.
 */
void worktree_finish(void);

/* Moves a clone to NAME below DIRFD, which is made as a directory or a file to fit. */
int worktree_place(int tree, int dirfd, const char *name, struct fault *f) _must_check_;

/*
 * Upper and work directory of an overlay in the existing directory STATE: u and w, fresh; all three are given to UID
 * and GID.  The merged root takes its mode from the upper one: it gets that of TREE (a path).
 */
int worktree_make_upper(const char *state, const char *tree, uid_t uid, gid_t gid,
			struct fault *f) _must_check_;
