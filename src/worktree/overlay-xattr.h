/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/fault.h"

/*
 * What overlayfs itself noted on one entry of an upper layer.  Its notes are extended attributes in one of two places:
 * trusted.overlay.*, or user.overlay.* of a mount with `userxattr`.  Only the place that the mount used is read: in the
 * other one the payload may have written what it liked.
 *
 * fuse-overlayfs has notes of its own: user.fuseoverlayfs.opaque, which no payload can set, and names that begin with
 * ".wh.", which no payload can make or see.  It goes by user.overlay.opaque as well, which a payload can set: what is
 * read is what was seen inside.
 */
enum overlay_xattr_place {
	OVERLAY_XATTR_USER,
	OVERLAY_XATTR_TRUSTED,
	OVERLAY_XATTR_FUSE,
};

#define OVERLAY_FUSE_MARK ".wh."	   /* and a name: that one is removed */
#define OVERLAY_FUSE_OPAQUE ".wh..wh..opq" /* in a directory: it is opaque */
#define OVERLAY_FUSE_REST ".wh..opq"	   /* a device beside that, which means nothing */

#define OVERLAY_ORIGIN_MAX 256
#define OVERLAY_REDIRECT_MAX 4096

struct overlay_xattr {
	bool opaque;	/* what lies below it is not seen */
	bool whiteouts; /* its files may be whiteouts by attribute */
	bool whiteout;	/* by attribute: an empty file that stands for a removed one */
	bool metacopy;	/* the data is still in the lower layer */
	char *redirect; /* where in the lower layer it came from: "/from/the/root" or "a-name-beside-it"; NULL: same path */
	bool has_origin; /* it was copied up */
	uint8_t origin[OVERLAY_ORIGIN_MAX];
	size_t origin_len;
};

/* FD is the entry itself; O_PATH will do where /proc is mounted. */
int overlay_xattr_read(int fd, enum overlay_xattr_place place, struct overlay_xattr *ret,
		       struct fault *f) _must_check_;
void overlay_xattr_done(struct overlay_xattr *m);
#define _cleanup_overlay_xattr_ _cleanup_(overlay_xattr_done)

bool overlay_is_whiteout(const struct statx *stx); /* a device 0:0 */
/*
 * NAME in a layer of fuse-overlayfs is a mark and no entry.  *RET_REMOVED: the name that it says is removed, or NULL: it says
 * something else.
 */
bool overlay_is_fuse_mark(const char *name, const struct statx *stx, const char **ret_removed);

/* Is NAME in DIRFD ("" with AT_EMPTY_PATH: DIRFD itself) the very file that M was copied up from?  Nobody can say: true. */
bool overlay_is_origin(const struct overlay_xattr *m, int dirfd, const char *name);
