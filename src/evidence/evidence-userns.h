/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/evidence.h"

/*
 * A user's payload can take its own permissions away, and with them ours.  What it did so to is read by a child in a user
 * namespace (userns.h).
 */

/* Is there anything below TREE that we own and may not read, among the first MAX entries?  0: among all. */
bool evidence_userns_is_needed(int tree, uint64_t max);
/* TAKE in such a child.  -ENOSYS, without a fault: there is no namespace to be had here. */
int evidence_userns_write(int (*take)(const struct evidence_request *ask, struct evidence_taken *ret,
				      struct fault *f),
			  const struct evidence_request *ask, struct evidence_taken *ret,
			  struct fault *f) _must_check_;
