/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * custody-hook, called by a runtime with the container's state on stdin.  One verb per hook:
 *
 *	approve ...	createRuntime, before `mount`: verifies the bundle and decides.  docs/design/hooks.md
 *	mount PLAN	createRuntime: mounts that the runtime cannot make, in the container's mount namespace
 *	audit ...	poststop: waits until the end is recorded; records it if custody-warden was killed
 */
struct hook_state {
	char *id;
	char *bundle;	   /* absolute */
	pid_t pid;	   /* first process of the container; 0 after it exited */
	char *stderr_file; /* annotation run.oci.hooks.stderr; NULL: none */
};

/* Reads FD to its end: a runtime that cannot write all of it reports a failed hook. */
int hook_state_read(int fd, struct hook_state *ret, struct fault *f) _must_check_;
void hook_state_done(struct hook_state *s);
#define _cleanup_hook_state_ _cleanup_(hook_state_done)

/*
 * A pidfd of process PID, verified to be the container's first process, started by the runtime that called us; a pid alone
 * may be reused.  FIRST: it must be the first of a pid namespace.  RET_START: its start time, in the kernel's ticks.
 */
int hook_pidfd_open(pid_t pid, bool first, int *ret, uint64_t *ret_start, struct fault *f) _must_check_;

/* Writes why VERB refused to stderr, the terminal and the bundle; TEXT NULL: removes the old message. */
void hook_report(const struct hook_state *s, const char *verb, const char *text);

/* ARGS: what oci/bundle/hook-args.c wrote, NULL-terminated.  0: the container may start; it is recorded and supervised. */
int hook_approve(const struct hook_state *s, char **args, struct fault *f) _must_check_;

/* ARGS: those of approve that name the state.  0: the end of the session is recorded, or custody-warden records it. */
int hook_audit(const struct hook_state *s, char **args, struct fault *f) _must_check_;

/* PLAN is the JSON that oci/bundle/bundle-hooks.c writes. */
int hook_mount(const struct hook_state *s, const char *plan, struct fault *f) _must_check_;
