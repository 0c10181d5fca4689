/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/evidence.h"

/*
 * The payload of a user can remove permissions from its files, which custody then cannot read either.  A child in a
 * user namespace (userns.h) can.
 */

/* One of the first MAX entries below TREE is owned by the caller and not readable.  MAX 0: all entries. */
bool evidence_userns_is_needed(int tree, uint64_t max);
/* Calls WRITE in such a child.  -ENOSYS, without a fault: no user namespace available. */
int evidence_userns_write(int (*write)(const struct evidence_request *request, struct evidence_taken *ret,
				       struct fault *f),
			  const struct evidence_request *request, struct evidence_taken *ret,
			  struct fault *f) _must_check_;
