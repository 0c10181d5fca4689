/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "run/run-options.h"

/*
 * `run -d`: two processes from the start.  The child does everything that a run does; the parent waits for it until
 * the payload is executed, prints the session's id and exits. Until then the child uses the caller's terminal, asks
 * there, and its status is the parent's.
 */

/* *RET_PARENT: we are the parent, and the return value is its exit status; else continue with O as the supervisor. */
int run_detach(struct run_options *o, bool *ret_parent, struct fault *f) _must_check_;

/* In the supervisor, before anything of the session is created: leaves the caller's terminal and process group. */
int run_detach_leave(const struct run_options *o, struct fault *f) _must_check_;
/*
 * The payload was executed: the caller gets ID and exits; later messages go to LOG. Both do nothing without
 * detach_fd.
 */
void run_detach_announce(const struct run_options *o, const char *id, int log);
