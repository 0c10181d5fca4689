/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/fault.h"

/*
 * Extended attributes that overlayfs sets on an entry of an upper: trusted.overlay.*, or user.overlay.* for a
 * mount with `userxattr`.  Only those that the mount used are read: the payload may have written the others.
 *
 * fuse-overlayfs has its own: user.fuseoverlayfs.opaque, which no payload can set, and names that begin with
 * ".wh.", which no payload can create or see.  It also honours user.overlay.opaque, which a payload can set:
 * reading it yields the state that was visible inside.
 */
enum overlay_xattr_place {
	OVERLAY_XATTR_USER,
	OVERLAY_XATTR_TRUSTED,
	OVERLAY_XATTR_FUSE,
};

#define OVERLAY_FUSE_MARK ".wh."	   /* followed by a name: that name is removed */
#define OVERLAY_FUSE_OPAQUE ".wh..wh..opq" /* in a directory: it is opaque */
#define OVERLAY_FUSE_REST ".wh..opq"	   /* a device beside it, without meaning */

#define OVERLAY_ORIGIN_MAX 256
#define OVERLAY_REDIRECT_MAX 4096

struct overlay_xattr {
	bool opaque;	 /* entries below it are hidden */
	bool whiteouts;	 /* its files may be whiteouts by attribute */
	bool whiteout;	 /* by attribute: an empty file that represents a removed one */
	bool metacopy;	 /* the data is still in the lower */
	char *redirect;	 /* its path in the lower: "/from/the/root" or "a-name-beside-it"; NULL: same path */
	bool has_origin; /* it was copied up */
	uint8_t origin[OVERLAY_ORIGIN_MAX];
	size_t origin_len;
};

/* FD is the entry itself; O_PATH is enough if /proc is mounted. */
int overlay_xattr_read(int fd, enum overlay_xattr_place place, struct overlay_xattr *ret,
		       struct fault *f) _must_check_;
void overlay_xattr_done(struct overlay_xattr *m);
#define _cleanup_overlay_xattr_ _cleanup_(overlay_xattr_done)

bool overlay_is_whiteout(const struct statx *stx); /* a device 0:0 */
/*
 * NAME in an upper of fuse-overlayfs is a mark and not an entry.  *RET_REMOVED: the name that it removes, or
 * NULL: another mark.
 */
bool overlay_is_fuse_mark(const char *name, const struct statx *stx, const char **ret_removed);

/* Does M have the file handle of the entry that it was copied up from?  In a user namespace it has none. */
bool overlay_has_origin(const struct overlay_xattr *m);
/*
 * Is NAME in DIRFD ("" with AT_EMPTY_PATH: DIRFD itself) the file that M was copied up from?  Unknown: true.
 */
bool overlay_is_origin(const struct overlay_xattr *m, int dirfd, const char *name);
