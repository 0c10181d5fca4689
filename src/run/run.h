/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "run/run-options.h"
#include "session/run-result.h"

/*
 * One run: profile, subject, decision, session, cgroup, container, result; everything but its records is removed again.
 * `custody run` calls it between its options and its exit status; doctor runs its canary with O->stdio set to files.
 *
 * A run that ended, however badly, is 0 and RET.  Negative: nothing was started, F says why, and RET, if *RET_RUN was
 * set, is the refusal with its exit status.  Borrowed texts of RET live as long as RUN, which the caller frees with run_free.
 */
struct run;

int run_session(const struct run_options *o, struct run_result *ret, struct run **ret_run,
		struct fault *f) _must_check_;
void run_free(struct run *r);
DEFINE_CLEANUP(struct run, run_free)
#define _cleanup_run_ _cleanup_(run_freep)

/* --dry-run: config.json as it would be, for placeholder directories; nothing is written. */
int run_dry_describe(const struct run_options *o, char **ret, struct fault *f) _must_check_;
