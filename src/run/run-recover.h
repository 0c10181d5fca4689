/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/run-ledger.h"
#include "state/dirs.h"

/*
 * What supervisors that died left behind: their containers are ended, what they changed is kept as evidence, their records
 * closed, cgroups and directories removed.  Returns how many there were; R has an open ledger and is nobody's session.
 */
int session_recover_dead(struct run_ledger *r, const struct dirs *d, struct fault *f) _must_check_;
/* The same for a start, which does not look everywhere each time. */
int session_recover_start(struct run_ledger *r, const struct dirs *d, struct fault *f) _must_check_;

/* Ends the container that the runtime's state in the session's directory names, if there is one. */
void session_recover_container(const struct dirs *d, const char *id, int run_fd);
