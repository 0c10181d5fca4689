/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/manifest.h"

/*
 * What differs between evidence and a tree, or between two evidences, by path.  OLD and NEW are NULL where there is
 * nothing.  Times and attributes are not compared.
 */
enum evidence_change {
	EVIDENCE_ADDED = 1 << 0,
	EVIDENCE_REMOVED = 1 << 1,
	EVIDENCE_TYPE = 1 << 2,
	EVIDENCE_CONTENT = 1 << 3,
	EVIDENCE_MODE = 1 << 4,
	EVIDENCE_OWNER = 1 << 5,
	EVIDENCE_LINK = 1 << 6,
	EVIDENCE_UNCLEAR = 1 << 7, /* not kept, or not wholly: nobody can say */
};
#define EVIDENCE_CHANGES 8
const char *evidence_change_name(unsigned int bit); /* "added" ..., of one bit */

struct evidence_difference {
	const char *path;
	unsigned int what; /* enum evidence_change, several */
	const struct manifest_entry *old, *new;
};

/* All of them, by the bytes of the paths.  Not 0: the end, and what the call returns. */
typedef int evidence_diff_told(void *arg, const struct evidence_difference *d);

/* From EVIDENCE to OTHER. */
int evidence_diff(int evidence, int other, evidence_diff_told *told, void *arg, struct fault *f) _must_check_;

/* From a tree, which is read like a stranger's, to evidence. */
struct evidence_diff_tree {
	int evidence, tree;
	bool changes;	     /* the evidence has what was changed only: what it does not name is as it was */
	bool cut;	     /* it ends early: what it does not name is not known */
	char *const *hidden; /* paths that were not looked at; may be NULL */
};
int evidence_diff_tree(const struct evidence_diff_tree *t, evidence_diff_told *told, void *arg,
		       struct fault *f) _must_check_;
