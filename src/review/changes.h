/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/fault.h"
#include "capture/capture.h"
#include "worktree/overlay-xattr.h"

/*
 * What an overlay's upper layer makes of its base: whiteouts, opaque directories, directories that came from elsewhere, files
 * whose data stayed below, as a list of paths that differ.  Both trees are a stranger's: only names beneath the two roots
 * are used, no link is followed, no mount entered.  docs/design/review.md.
 */
#define CHANGES_MAX 500000
#define CHANGES_NAMES_MAX ((size_t)64 * 1024 * 1024) /* a path is as long as its directories are deep */

enum change_kind {
	CHANGE_SAME,	 /* the layer has it, and the base is like that already */
	CHANGE_ADDED,	 /* the base has nothing there */
	CHANGE_DELETED,	 /* each entry of a removed directory is one */
	CHANGE_MODIFIED, /* the same type of entry: bytes, link, mode or owner */
	CHANGE_REPLACED, /* another type of entry; what was in a directory is DELETED apart */
	CHANGE_UNKNOWN,	 /* cannot be read: ERROR and WHY */
};

/* One side of a change.  MODE 0: there is nothing. */
struct change_side {
	mode_t mode; /* with the type */
	uid_t uid;
	gid_t gid;
	uint64_t size, ino, nlink;
	struct timespec mtime, ctime;
	unsigned int rdev_major, rdev_minor;
	char *link; /* of a symbolic link */
};

struct change {
	char *path; /* below the root; "" is the root itself */
	enum change_kind kind;
	struct change_side old, new; /* NEW: owner as it will be on the host, see ids */
	/* Where the new bytes are: NULL: in the layer, under PATH.  Else in the base under this path. */
	char *data;
	bool bytes;	 /* contents or link differ, not only mode or owner */
	bool whole;	 /* a directory: nothing of what the base has in it stays unless the layer has it */
	bool privileged; /* a file capability, or an owner who is neither the session nor the worktree's */
	/* The base is not what the session saw: static text, or NULL. */
	const char *moved;
	int error;
	const char *why; /* static text */
	/* Of review_judge: it is asked for; and why it will not be applied, heap. */
	bool picked;
	bool holds_refused; /* told to all above it */
	char *refused;
};

struct changes {
	struct change *items; /* by path, a directory right before what is in it */
	size_t n, room;
	size_t names; /* bytes of all paths */
};

struct changes_ask {
	int upper, base; /* directories */
	enum overlay_xattr_place notes;
	struct capture_ids ids; /* of the layer's files; not set: as they are */
	struct timespec
		since; /* what of the base changed after that was not seen by the session; 0: not asked */
};

int changes_collect(const struct changes_ask *ask, struct changes *ret, struct fault *f) _must_check_;
void changes_done(struct changes *c);
#define _cleanup_changes_ _cleanup_(changes_done)

/* The change of exactly PATH, or NULL. */
struct change *changes_find(const struct changes *c, const char *path);
/* By bytes, but '/' before everything else. */
int changes_compare(const char *a, const char *b);
const char *changes_kind_name(enum change_kind kind);
