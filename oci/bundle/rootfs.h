/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "subject/subject.h"

/*
 * The root of a container before anything is mounted on it: mount points, the symlinks of the subject, and for `host-ro` a
 * small generated /etc.  DIRFD is an empty directory that belongs to the caller alone; everything below it is owned by UID and
 * GID (container root on the host).  The same code fills a portable bundle's rootfs/ and the private tmpfs of a run;
 * PORTABLE: with the mount point of the gate (layer/init-proto.h).
 */
int rootfs_build(int dirfd, const struct subject *s, uid_t uid, gid_t gid, bool portable,
		 struct fault *f) _must_check_;

/*
 * -EPERM unless the tree in DIRFD is exactly the one that rootfs_build would create for a bundle from S now.  Copies of the host's files are
 * compared with the originals.
 */
int rootfs_require_same(int dirfd, const struct subject *s, uid_t uid, gid_t gid,
			struct fault *f) _must_check_;
