/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/* The mount at ROOTFS in TEXT, which is a mountinfo. */
struct engine_rootfs {
	char *type;    /* "overlay", "fuse.fuse-overlayfs"; NULL: ROOTFS is no mount point */
	uint64_t id;   /* of the mount */
	char *upper;   /* as written; NULL: none */
	char **lowers; /* in the order of the option, upper ones first, as written; NULL: not in the options */
};

int engine_rootfs_find(const char *text, const char *rootfs, struct engine_rootfs *ret,
		       struct fault *f) _must_check_;
void engine_rootfs_done(struct engine_rootfs *r);
#define _cleanup_engine_rootfs_ _cleanup_(engine_rootfs_done)

/*
 * Fills W->c->image: the layers below the container's own, or the image's digest from containerd.  NULL: not identified.
 * RET_OVERLAY: the root file system is an overlay, so writing there changes no other container.
 */
int engine_image_read(struct engine_work *w, bool *ret_overlay) _must_check_;

/*
 * {"path","sha256"} of the file that argv[0] names in the root or in a bind: JSON null if there is no such file, "size" in place
 * of the digest if it is larger than ENGINE_PROGRAM_MAX.
 */
#define ENGINE_PROGRAM_MAX ((size_t)256 * 1024 * 1024)
int engine_program_read(struct engine_work *w, struct jdoc **ret) _must_check_;
/* The same file in the root directory ROOT of a container that was created: -ENOENT and its like, without a message. */
int engine_program_find(const struct jdoc *config, int root, struct stat *ret) _must_check_;
