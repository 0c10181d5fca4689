/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "review/changes.h"

/*
 * What of a list of changes may go to the host's tree.  The payload wrote the layer: whatever would have an effect beyond
 * the bytes that a person looked at is refused, path by path, each with its reason.  docs/design/review.md.
 */
#define REVIEW_TEMP ".custody-apply-" /* what apply calls its own files until they are whole */

struct review_ask {
	int base;
	char *const *paths;   /* wanted, with all that is below; NULL: everything */
	char *const *protect; /* relative paths that are never changed; NULL: none */
};

/* Fills picked and refused of every change.  -ENOENT names a path of ASK that nothing was changed at. */
int review_judge(struct changes *c, const struct review_ask *ask, struct fault *f) _must_check_;

/*
 * Would the link TEXT at PATH, in the tree that the picked changes make, lead out of it?  Static text saying how, or NULL.
 * Negative only when that cannot be found out.
 */
int review_link(const struct changes *c, int base, const char *path, const char *text, const char **ret,
		struct fault *f) _must_check_;

/* A path of the command line as the list spells it; heap.  "." is "".  -EINVAL for one that leaves the tree. */
int review_path(const char *text, char **ret, struct fault *f) _must_check_;

bool review_is_below(const char *path, const char *dir); /* equal, or in it; "" is above all */
