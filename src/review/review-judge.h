/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "review/changes.h"

/*
 * Decides which changes may be applied to the host's tree.  The payload wrote the upper: a change with an effect beyond the
 * bytes that a person reviewed is refused, path by path, each with its reason.  docs/design/review.md.
 */
#define REVIEW_TEMP ".custody-apply-" /* prefix of apply's temporary names */

struct review_ask {
	int base;
	char *const *paths;   /* selected, with everything below them; NULL: all */
	char *const *protect; /* relative paths that are never changed; NULL: none */
	/* The tree is a repository, and this its part of the linked worktree that was used, or ""; NULL: it is none. */
	const char *own;
};

/* Sets picked and refused of every change.  -ENOENT: no change at or below a path of ASK; F names it. */
int review_judge(struct changes *c, const struct review_ask *ask, struct fault *f) _must_check_;

/*
 * Does the link TEXT at PATH lead out of the tree that the picked changes produce?  *RET: static text that says how, or NULL.
 * Negative only when the check fails.
 */
int review_link(const struct changes *c, int base, const char *path, const char *text, const char **ret,
		struct fault *f) _must_check_;
/* Where PATH leads in that tree; heap.  NULL: no link is on the way, or it leads out of the tree. */
int review_link_target(const struct changes *c, int base, const char *path, char **ret,
		       struct fault *f) _must_check_;

/* A path of the command line in the form of the list; heap.  "." is "".  -EINVAL if it leaves the tree. */
int review_path(const char *text, char **ret, struct fault *f) _must_check_;

bool review_is_below(const char *path, const char *dir); /* or equal; everything is below "" */
