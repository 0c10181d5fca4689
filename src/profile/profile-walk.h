/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/profile.h"

/* POINTER: JSON Pointer of V, as `remove` takes it.  V->origin is NULL for a default.  Negative stops the walk. */
typedef int profile_visit_fn(const char *pointer, const struct jdoc *v, void *userdata, struct fault *f);

/*
 * Calls VISIT for each scalar and each empty array or object of P, in the order of the table; unset keys have
 * their default.
 */
int profile_walk(const struct profile *p, profile_visit_fn *visit, void *userdata,
		 struct fault *f) _must_check_;
