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
 * Enables WANT for the children of DIR. Refused while DIR itself holds processes, except in the root: the kernel would allow
 * pids and cpu alone, and then no process could enter a child.
 */
bool cgroup_place_enable(const char *dir, unsigned int want);

/*
 * Fills C->why for C->missing: the controllers that have no cgroup, and why.
 */
int cgroup_explain_missing(struct cgroup *c, const struct cgroup_host *h, struct fault *f) _must_check_;
