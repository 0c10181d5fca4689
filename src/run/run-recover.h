/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "decision/decision.h"

/*
 * Recovery of sessions whose supervisor was killed: their containers are killed, their changes are captured as evidence,
 * their end is recorded as `lost`, cgroups and directories are removed.  D has dirs, configuration and an open ledger; the
 * session of D->run is left out.
 */

/*
 * Claims without a runtime directory (after a reboot, or killed before it was created); the others are closed when that
 * directory is swept and the container is dead.  A failure does not keep the other claims open.
 */
int run_recover_claims(const struct decision *d, struct fault *f) _must_check_;
/* Sessions with a runtime directory.  Returns how many were recovered. */
int run_recover_sessions(const struct decision *d, struct fault *f) _must_check_;
/* The same at a start, which does not search everywhere each time. */
int run_recover_start(const struct decision *d, struct fault *f) _must_check_;

/* Kills the container that the runtime's state in the session's directory names, if any. */
void run_recover_container(const struct dirs *d, const char *id, int run_fd);
