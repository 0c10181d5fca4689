/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"
#include "base/walk.h"

/*
 * Names of files in one directory of the tree, passed from the walker to a thread.  One directory goes to one thread,
 * so that two threads rarely create files in the same one.  The files are not opened yet.
 */
#define CAPTURE_BATCH_MAX ((size_t)128)
#define CAPTURE_BATCH_BYTES ((size_t)32 * 1024)

/* A directory of the target that queued files still need. */
struct capture_dir {
	int fd;	    /* -EBADF: its files go to odd/ */
	char *path; /* below the evidence: "worktree/src" */
	_Atomic int refs;
};

struct capture_dir *capture_dir_new(int fd, const char *path); /* takes over FD, also when it fails */
void capture_dir_drop(struct capture_dir *d);

struct capture_batch {
	struct capture_dir *dir; /* target directory; the batch holds one reference */
	int from;		 /* source directory; negative errno: it could not be opened */
	uint64_t mount;		 /* mount id that the files must have */
	char *path;		 /* of FROM, below the tree; "" is its root */
	struct strbuf names;	 /* each terminated by NUL */
	size_t n, at;		 /* names left, and the offset of the next one in NAMES */
};

/* Appends the name of W, which is in the same directory as the others. */
int capture_batch_add(struct capture_batch *b, struct capture_dir *dir, const struct walk_entry *w,
		      struct fault *f) _must_check_;
/* NULL: none left.  Valid as long as B. */
const char *capture_batch_next(struct capture_batch *b);
/* Moves the names that are left to REST.  False: B is unchanged. */
bool capture_batch_split(struct capture_batch *b, struct capture_batch *rest);
void capture_batch_move(struct capture_batch *to, struct capture_batch *from);
void capture_batch_done(struct capture_batch *b);
#define _cleanup_capture_batch_ _cleanup_(capture_batch_done)
