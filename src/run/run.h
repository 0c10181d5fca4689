/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "run/run-options.h"
#include "profile/profile.h"
#include "session/run-result.h"

/*
 * One run, whole: profile, subject, session, cgroup, container, and everything removed again.  What `custody run`
 * does between its options and its exit status; doctor uses it for its canary with O->stdio set to files of its own.
 *
 * A run that ended, however badly, is 0 and RET; negative means that nothing was started: F says why, and RET, if RUN
 * was given, is the refusal with the status to end with.  RET's borrowed texts live as long as RUN, which the caller
 * frees with run_session_free.
 */
struct session_run;

int session_run(const struct run_options *o, struct run_result *ret, struct session_run **ret_run,
		struct fault *f) _must_check_;
void run_session_free(struct session_run *r);
DEFINE_CLEANUP(struct session_run, run_session_free)
#define _cleanup_session_run_ _cleanup_(run_session_freep)

/* --dry-run: config.json as it would be, for placeholder directories; nothing is written. */
int session_describe(const struct run_options *o, char **ret, struct fault *f) _must_check_;

/* Limits and network of the command line, into a copy of the profile that shares the loaded one's memory. */
void session_apply_options(struct profile *p, const struct run_options *o);
