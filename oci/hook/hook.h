/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * custody-hook, called by a runtime with the container's state on stdin.  One verb per hook:
 *
 *	approve ...	createRuntime, before `mount`: is this what was judged, and may it run?  docs/design/hooks.md
 *	mount PLAN	createRuntime: mounts what the runtime cannot, in the container's mount namespace
 *	audit ...	poststop: the session is over; waits for its end to be told, and tells it when nobody is left who can
 */
struct hook_state {
	char *id;
	char *bundle;	   /* absolute */
	pid_t pid;	   /* first process of the container; 0 once it is gone */
	char *stderr_file; /* annotation run.oci.hooks.stderr; NULL: none */
};

/* Reads FD to its end: a runtime that cannot write all of it takes that for a failed hook. */
int hook_state_read(int fd, struct hook_state *ret, struct fault *f) _must_check_;
void hook_state_done(struct hook_state *s);
#define _cleanup_hook_state_ _cleanup_(hook_state_done)

/*
 * The process PID is the container's first, started by the runtime that called us: a pidfd of it, which is what to trust
 * from here on.  FIRST: it must be the first of a pid namespace.  RET_START: when it began, in the kernel's ticks.
 */
int hook_pin(pid_t pid, bool first, int *ret, uint64_t *ret_start, struct fault *f) _must_check_;

/* Why VERB refused, to wherever a person may look; TEXT NULL: it did not. */
void hook_say(const struct hook_state *s, const char *verb, const char *text);

/* ARGS: what oci/bundle/hook-args.c wrote, NULL-terminated.  0: the container may go on; it is recorded and watched. */
int hook_approve(const struct hook_state *s, char **args, struct fault *f) _must_check_;

/* ARGS: of approve those that say whose state it is.  0: the container's session is over, or about to be. */
int hook_audit(const struct hook_state *s, char **args, struct fault *f) _must_check_;

/* PLAN is the JSON that oci/bundle/bundle-hooks.c writes. */
int hook_mount(const struct hook_state *s, const char *plan, struct fault *f) _must_check_;
