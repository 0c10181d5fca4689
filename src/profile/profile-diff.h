/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * Appends to LIST one object per key whose value differs: "key", "a", "b" (null: no value) and "relation", which is
 * "tighter", "looser", "equal" or "unknown" and describes B relative to A.  -ENOMEM.
 */
int profile_diff_keys(const struct profile *a, const struct profile *b, const struct profile_vars *vars,
		      struct jdoc *list) _must_check_;
