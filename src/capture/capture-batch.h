/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/str.h"
#include "base/walk.h"

/*
 * Names of files in one directory of the tree, on their way from the walker to a thread: all of a directory to one thread, so that two
 * seldom make files in the same one, and none of them opened yet.
 */
#define CAPTURE_BATCH_MAX ((size_t)128)
#define CAPTURE_BATCH_BYTES ((size_t)32 * 1024)

/* A directory of the target that files in the queue still need. */
struct capture_dir {
	int fd;	    /* -EBADF: its files go to odd/ */
	char *path; /* below the evidence: "worktree/src" */
	_Atomic int refs;
};

struct capture_dir *capture_dir_new(int fd, const char *path); /* owns FD also when it fails */
void capture_dir_drop(struct capture_dir *d);

struct capture_batch {
	struct capture_dir *dir; /* where they go; one reference is ours */
	int from;		 /* where they are; a negative errno: it could not be held */
	uint64_t mount;		 /* that they must be on */
	char *path;		 /* of FROM, below the tree; "" is its root */
	struct strbuf names;	 /* each with its NUL */
	size_t n, at;		 /* how many are to come, and where in NAMES */
};

/* W's name behind the others, which are in the same directory. */
int capture_batch_add(struct capture_batch *b, struct capture_dir *dir, const struct walk_entry *w,
		      struct fault *f) _must_check_;
/* NULL: no more.  Until B ends. */
const char *capture_batch_next(struct capture_batch *b);
/* What is left of B goes to REST.  False: all of it stays. */
bool capture_batch_split(struct capture_batch *b, struct capture_batch *rest);
void capture_batch_move(struct capture_batch *to, struct capture_batch *from);
void capture_batch_done(struct capture_batch *b);
#define _cleanup_capture_batch_ _cleanup_(capture_batch_done)
