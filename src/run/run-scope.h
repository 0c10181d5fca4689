/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cgroup/cgroup.h"
#include "cgroup/scope.h"

/*
 * The cgroup of a run, from the user's systemd where no other place has the controllers.  systemd works while the container is
 * prepared: open, ask when the creator exists, join before the creator is released.
 */
struct run_scope {
	struct scope scope;
	int run_fd; /* borrowed, as the next two */
	const char *id;
	const struct cgroup_limits *want;
	struct fault fault; /* of the request */
	bool open;
};
#define RUN_SCOPE_NONE ((struct run_scope){ .scope = SCOPE_NONE })

/*
 * cgroup_open; S->open afterwards: RET is empty, nothing is missing yet, and join fills it.  Why there is no scope is in RET->why.
 */
int run_scope_open(struct run_scope *s, const char *libexec, struct cgroup *ret,
		   struct fault *f) _must_check_;
void run_scope_ask(struct run_scope *s, pid_t creator);
/* Without a scope C is what cgroup_open gives here, and the creator is in it. */
int run_scope_join(struct run_scope *s, pid_t creator, struct cgroup *c, struct fault *f) _must_check_;
/* After the cgroup was removed: the scope ends. */
void run_scope_done(struct run_scope *s);
#define _cleanup_run_scope_ _cleanup_(run_scope_done)
