/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Restores the worktree of evidence into an empty directory.  The manifest is authoritative, but untrusted: no link is
 * followed, nothing is created outside, and the digest of each file is verified.  By default the caller owns
 * everything, and set-id bits, devices and extended attributes are left out.  EXACT (root) restores owner, mode,
 * attributes and devices, into a directory that other users cannot enter.
 *
 * The payload chose mode, owner and access list of its worktree: the target keeps its own.
 */
struct restore_options {
	bool exact;
	/* Called after each entry, with the totals; may be NULL. */
	void (*progress)(void *arg, uint64_t entries, uint64_t bytes);
	void *progress_arg;
	const char *target; /* for messages; NULL: "the target" */
};

struct restore_stats {
	uint64_t entries;
	uint64_t left_out; /* devices and the like, and entries that were not captured */
	uint64_t damaged;  /* contents do not match the manifest: not restored */
	char *first;	   /* path and reason of the first of either; heap */
};

/* EXACT creates devices, set-id files and files of other users: is TARGET ours, and can other users enter it?  -EPERM. */
int restore_require_private(int target, const char *path, struct fault *f) _must_check_;

/* EVIDENCE: the directory of manifest.ndjson.  TARGET must be empty. */
int restore_tree(int evidence, int target, const struct restore_options *o, struct restore_stats *ret,
		 struct fault *f) _must_check_;
void restore_stats_done(struct restore_stats *s);
#define _cleanup_restore_stats_ _cleanup_(restore_stats_done)
