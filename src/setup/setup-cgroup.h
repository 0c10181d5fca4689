/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "setup/setup-change.h"

/*
 * The user's directory in a cgroup hierarchy without systemd's delegation (cgroup_host_user_dir).  v1: the user's processes
 * enter cgroups below it from anywhere.  v2: only processes that are in it can use it, so those of the user are moved into
 * its leaf "login".
 */
#define SETUP_CGROUP_V1 "v1"

int setup_cgroup_is_made(const struct setup_change *c, const struct setup_user *u) _must_check_;
int setup_cgroup_make(const struct setup_change *c, const struct setup_user *u, struct fault *f) _must_check_;
/* v2: moves the processes of U in the root of the hierarchy into the leaf; after setup_cgroup_make. */
int setup_cgroup_enter(const struct setup_change *c, const struct setup_user *u,
		       struct fault *f) _must_check_;
/* -EBUSY while a run of the user is in it. */
int setup_cgroup_undo(const struct setup_change *c, const struct setup_user *u, struct fault *f) _must_check_;
