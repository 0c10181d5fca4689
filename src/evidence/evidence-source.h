/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/evidence-scope.h"

/* The directory that a capture reads: the worktree as the container saw it, or the upper of its overlay. */
struct evidence_source {
	int fd;		     /* borrowed; -EBADF: neither can be read */
	bool upper;	     /* changes only */
	const char *missing; /* FD -EBADF: the reason */
};

/*
 * Pure.  TREE and UPPER: descriptors, -EBADF when missing.  An overlay whose upper is missing is read as a whole; if TREE is
 * missing, too, the reason is MISSING.
 */
struct evidence_source evidence_source_choose(enum evidence_scope scope, enum profile_workspace workspace,
					      int tree, int upper, const char *missing);
