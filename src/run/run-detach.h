/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "run/run-options.h"

/*
 * `run -d`: two processes from the start.  The child does everything that a run does; the parent waits for it until the
 * payload is executed, prints the session's id and ends.  Until then the child talks to the caller's terminal, asks there,
 * and its status is the parent's.
 */

/* *RET_PARENT: return the status that this function returns; else go on with O as the supervisor. */
int run_detach(struct run_options *o, bool *ret_parent, struct fault *f) _must_check_;

/* In the supervisor, before anything of the session is made: out of the caller's terminal and process group. */
int run_detach_leave(const struct run_options *o, struct fault *f) _must_check_;
/* The payload is executed: the caller gets ID and is let go; what is said from now on goes to LOG.  No-ops without detach_fd. */
void run_detach_announce(const struct run_options *o, const char *id, int log);
