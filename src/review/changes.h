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
 * The changes that an overlay's upper makes to its base, as a list of paths that differ: whiteouts, opaque directories,
 * redirected directories and metacopy files are resolved.  Both trees are untrusted: only names beneath the two roots are
 * used, no link is followed, no mount entered.  docs/design/review.md.
 */
#define CHANGES_MAX 500000
#define CHANGES_NAMES_MAX ((size_t)64 * 1024 * 1024) /* deep directories make long paths */

enum change_kind {
	CHANGE_SAME,	 /* in the upper, and the base is equal already */
	CHANGE_ADDED,	 /* missing in the base */
	CHANGE_DELETED,	 /* one for each entry of a removed directory */
	CHANGE_MODIFIED, /* same type, other bytes, link, mode, owner or attributes */
	CHANGE_REPLACED, /* another type; the entries of a replaced directory are listed as DELETED */
	CHANGE_UNKNOWN,	 /* cannot be read: ERROR and WHY */
};

/* One side of a change.  MODE 0: missing. */
struct change_side {
	mode_t mode; /* including the type */
	uid_t uid;
	gid_t gid;
	uint64_t size, dev, ino, nlink;
	struct timespec mtime, ctime, btime; /* btime 0: the file system stores none */
	unsigned int rdev_major, rdev_minor;
	char *link; /* of a symbolic link */
};

struct change {
	char *path; /* below the root; "" is the root itself */
	enum change_kind kind;
	struct change_side old, new; /* NEW: with the owner on the host, see changes_ask.ids */
	/* Path of the new bytes in the base; NULL: they are in the upper, under PATH. */
	char *data;
	uint64_t data_ino; /* of DATA */
	char *attributes;  /* how user.* attributes differ, for people; heap.  NULL: they do not */
	bool bytes;	   /* contents or link differ, not only mode or owner */
	bool whole;	   /* a directory that hides all entries of the base in it */
	bool privileged;   /* a file capability, or an owner other than the session's ids */
	bool bare;	   /* a file of the upper without user.* attributes; false: not known */
	/* The base changed since the session began: static text that says how, or NULL. */
	const char *conflict;
	/* A directory that is not the one that the session saw; review_judge sets it for everything below one as well. */
	bool moved;
	/*
	 * For a record: a copy of a file of the base, at a place where the base has none, in a directory of which the base changed
	 * names while the session ran.
	 */
	bool gone;
	bool alias; /* review-protect.h sets it */
	int error;
	const char *why; /* static text */
	/* Set by review_judge: selected; has a refused entry below it; reason of the refusal, heap. */
	bool picked;
	bool holds_refused;
	char *refused;
	const char *asks;    /* set by review_ask: the name of a list for which apply asks, borrowed */
	struct change *pair; /* rename.h: the file of the same bytes that was added, or removed; NULL: none */
	bool folded;	     /* git-changes.h: a repository stands for it */
};

struct changes {
	struct change *items; /* sorted by path, a directory before its entries */
	size_t n, room;
	size_t names; /* bytes of all paths */
};

struct base_record;

struct changes_ask {
	int upper, base; /* directories */
	enum overlay_xattr_place xattrs;
	struct capture_ids ids; /* of the upper's files; not set: not mapped */
	struct timespec
		since; /* start of the session: later changes of the base are conflicts; 0: not checked */
	const struct base_record *
		record; /* the base at the end of the session: any difference is a conflict; NULL: not checked */
	/* Called for each entry of the upper, with the totals; may be NULL. */
	void (*progress)(void *arg, uint64_t entries, uint64_t bytes);
	void *progress_arg;
	bool recording;	  /* for such a record: lists the entries, compares no bytes */
	size_t files_min; /* fewest files that several threads compare; 0: as many as is best */
};

int changes_collect(const struct changes_ask *ask, struct changes *ret, struct fault *f) _must_check_;
void changes_done(struct changes *c);
#define _cleanup_changes_ _cleanup_(changes_done)

/* The change of PATH itself, or NULL. */
struct change *changes_find(const struct changes *c, const char *path);
/* For a record, of a complete list: was the file that CH is a copy of removed from the base while the session ran? */
bool changes_is_gone(const struct changes *list, const struct change *ch);
/* By bytes, but '/' before everything else. */
int changes_compare(const char *a, const char *b);
const char *changes_kind_name(enum change_kind kind);
