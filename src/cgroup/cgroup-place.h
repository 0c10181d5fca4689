/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cgroup/cgroup.h"

/*
 * Where below v2 a cgroup with the controllers WANT (CGROUP_BIT()s) can be created: heap path, or NULL if
 * nowhere. May enable controllers in the parents and, in a scope delegated to this process alone, move it
 * into a leaf (C->leaf; undone by cgroup_remove).
 */
int cgroup_place_v2(struct cgroup *c, const struct cgroup_host *h, unsigned int want, char **ret,
		    struct fault *f) _must_check_;

/*
 * Fills C->why for C->missing: the controllers that have no cgroup, and why.
 */
int cgroup_explain_missing(struct cgroup *c, const struct cgroup_host *h, struct fault *f) _must_check_;
