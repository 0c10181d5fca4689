/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Makes an empty directory the worktree that evidence tells of.  The manifest is the truth; what it says is believed of
 * names and bytes only: nothing is followed, nothing is made outside, and each file has the digest it should have.
 *
 * By default everything belongs to the caller, set-id bits, devices and extended attributes are left out.  EXACT (root)
 * brings owner, mode, attributes and devices back.
 */
struct restore_options {
	bool exact;
};

struct restore_stats {
	uint64_t entries;
	uint64_t left_out; /* devices and the like, and what was never kept */
	uint64_t damaged;  /* bytes that are not those of the manifest: not restored */
	char *first;	   /* path and reason of the first of either; heap */
};

/* EVIDENCE: the directory that holds manifest.ndjson.  TARGET must be empty. */
int restore_tree(int evidence, int target, const struct restore_options *o, struct restore_stats *ret,
		 struct fault *f) _must_check_;
void restore_stats_done(struct restore_stats *s);
#define _cleanup_restore_stats_ _cleanup_(restore_stats_done)
