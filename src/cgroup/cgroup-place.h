/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cgroup/cgroup.h"

/*
 * Where below v2 a cgroup with the controllers WANT (CGROUP_BIT()s) can be made: heap path, or NULL when nowhere.
 * May switch controllers on in the parents and, in a scope that is delegated to us alone, move this process into
 * a leaf of it (C->leaf; undone by cgroup_remove).
 */
int cgroup_place_v2(struct cgroup *c, const struct cgroup_host *h, unsigned int want, char **ret,
		    struct fault *f) _must_check_;

/* Fills C->why for C->missing: what cannot be enforced, why, and the command that would delegate it. */
int cgroup_explain_missing(struct cgroup *c, const struct cgroup_host *h, struct fault *f) _must_check_;
