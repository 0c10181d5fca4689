/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * Mounts of one run, created by its creator as root in a mount namespace of its own: the host never sees
 * them, and they disappear with the container.  Trees are cloned as descriptors first and moved to their
 * place on a private tmpfs afterwards, so a mount point may hide the path that a tree came from.
 */

/* Mounts here do not propagate to the host; the host's mounts still propagate here. */
int worktree_leave_host(struct fault *f) _must_check_;

/* An empty tmpfs, 0755, nosuid, nodev, on POINT.  *RET is its root directory. */
int worktree_mount_tmpfs(const char *point, int *ret, struct fault *f) _must_check_;

/* One id of a file system and its id in a mount. */
struct worktree_ids {
	uid_t from_uid, to_uid;
	gid_t from_gid, to_gid;
	/*
	 * Every other id stays the host's, which is no id of a container: files of others show as 65534 either way, but
	 * an ACL that names others has valid ids, without which overlayfs cannot copy the file.
	 */
	bool keep_others;
};

/*
 * A detached clone of the mount at SOURCE (a directory or a file, without the mounts below it), nosuid and
 * nodev, read-only unless RW.  SOURCE is resolved: a link found in it now was placed since, and is refused.
 * With IDS its owner is mapped; -EOPNOTSUPP if the file system or the kernel does not support it.
 */
int worktree_clone(const char *source, bool rw, const struct worktree_ids *ids, int *ret,
		   struct fault *f) _must_check_;

/* A user namespace of this one id, FROM inside and TO outside, as a descriptor. */
int worktree_open_userns(const struct worktree_ids *ids, int *ret, struct fault *f) _must_check_;

/*
 * Reaps the processes that mapping left, which have exited or are about to: all children of the caller.
 * Waiting for each one at once would cost two context switches.
 */
void worktree_finish(void);

/* Moves a clone to NAME below DIRFD, which is created as a directory or a file to match. */
int worktree_place(int tree, int dirfd, const char *name, struct fault *f) _must_check_;

/*
 * Creates upper and work directory of an overlay in the existing directory STATE: u and w; all three are
 * given to UID and GID.  The merged root takes its mode from the upper, which gets that of TREE (a path).
 */
int worktree_make_upper(const char *state, const char *tree, uid_t uid, gid_t gid,
			struct fault *f) _must_check_;
