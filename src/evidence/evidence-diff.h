/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/manifest.h"

/*
 * Differences between evidence and a tree, or between two evidences, sorted by path.  OLD or NEW is NULL: missing on
 * that side.  Times and extended attributes are not compared.
 */
enum evidence_change {
	EVIDENCE_ADDED = 1 << 0,
	EVIDENCE_REMOVED = 1 << 1,
	EVIDENCE_TYPE = 1 << 2,
	EVIDENCE_CONTENT = 1 << 3,
	EVIDENCE_MODE = 1 << 4,
	EVIDENCE_OWNER = 1 << 5,
	EVIDENCE_LINK = 1 << 6,
	EVIDENCE_UNCLEAR = 1 << 7, /* not, or not completely, captured: unknown */
};
#define EVIDENCE_CHANGES 8
const char *evidence_change_name(unsigned int bit); /* of one bit: "added" ... */

struct evidence_difference {
	const char *path;
	unsigned int what; /* enum evidence_change, several */
	const struct manifest_entry *old, *new;
};

/* Called for each difference, sorted by path.  Not 0: stops, and is returned. */
typedef int evidence_diff_told(void *arg, const struct evidence_difference *d);

/* From EVIDENCE to OTHER. */
int evidence_diff(int evidence, int other, evidence_diff_told *told, void *arg, struct fault *f) _must_check_;

/* From a tree, which is untrusted, to evidence. */
struct evidence_diff_tree {
	int evidence, tree;
	bool changes; /* the evidence has changed entries only: others are unchanged */
	bool cut;     /* the evidence ends early: entries that it does not list are unknown */
	bool elsewhere; /* not the worktree: mode and owner of its root are the caller's, also after a restore */
	char *const *hidden; /* paths that were not captured; may be NULL */
};
int evidence_diff_tree(const struct evidence_diff_tree *t, evidence_diff_told *told, void *arg,
		       struct fault *f) _must_check_;
