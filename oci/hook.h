/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "base/fault.h"

/*
 * custody-hook, called by a runtime with the container's state on stdin.  One verb per hook:
 *
 *	mount PLAN	createRuntime: mounts what the runtime cannot, in the container's mount namespace
 *
 * `approve` (createRuntime) and `audit` (poststop) get their place in hook-main.c's table.
 */
struct hook_state {
	char *id;
	char *bundle; /* absolute */
	pid_t pid;    /* first process of the container; 0 once it is gone */
};

/* Reads FD to its end: a runtime that cannot write all of it takes that for a failed hook. */
int hook_state_read(int fd, struct hook_state *ret, struct fault *f) _must_check_;
void hook_state_done(struct hook_state *s);
#define _cleanup_hook_state_ _cleanup_(hook_state_done)

/* PLAN is the JSON that oci/bundle-hooks.c writes. */
int hook_mount(const struct hook_state *s, const char *plan, struct fault *f) _must_check_;
