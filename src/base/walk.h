/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/fault.h"

/*
 * Walks an untrusted tree that may change concurrently, one entry after the other.
 *
 * Names are used one at a time, relative to a descriptor, and links are never followed. Other mounts are
 * reported and not entered. No recursion, few descriptors and little memory however deep or wide the tree is.
 * An unreadable entry is reported with its errno and does not end the walk.
 */
enum walk_event {
	WALK_END,
	WALK_ENTER, /* a directory, opened; its entries follow, unless walk_skip is called now */
	WALK_LEAVE, /* the same directory, after its entries */
	WALK_ENTRY, /* any other entry */
	WALK_ERROR, /* ERROR and WHY describe the failure; STX may be empty (stx_mask 0) */
};

struct walk_entry {
	const char *path; /* below the root, without a leading '/'; "" is the root.  Until the next call. */
	size_t path_len;
	const char *name; /* last part of PATH */
	int dirfd;	  /* the parent directory of NAME; -EBADF for the root */
	int fd;		  /* ENTER and LEAVE: the directory itself; else -EBADF */
	unsigned int depth;
	struct statx stx; /* ENTER: of the opened directory */
	int error;
	const char *why; /* static text */
};

#define WALK_SORTED 1u /* by the bytes of the names in each directory; costs memory in a wide one */
/*
 * No statx for entries with d_type DT_REG: stx_mask is 0, stx_mode is S_IFREG, and stx_mnt_id is the root's.
 * For callers that open the file and use fstat.
 */
#define WALK_UNSEEN_FILES 2u
/* PATH is NAME alone: a tree of any depth, whose paths need no memory. */
#define WALK_NAMES_ONLY 4u

struct walk;

int walk_new(int rootfd, unsigned int flags, struct walk **ret, struct fault *f) _must_check_;
/* An enum walk_event; negative only on ENOMEM. */
int walk_next(struct walk *w, struct walk_entry *ret, struct fault *f) _must_check_;
void walk_skip(struct walk *w);
void walk_free(struct walk *w);
DEFINE_CLEANUP(struct walk, walk_free)
#define _cleanup_walk_ _cleanup_(walk_freep)
