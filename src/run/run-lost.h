/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "container/container-orphan.h"
#include "evidence/evidence.h"
#include "ledger/ledger-session.h"
#include "session/session-note.h"
#include "state/dirs.h"

/*
 * A session whose supervisor died: the upper of its overlay is captured.  run_lost_capture has the signature of `before` in
 * struct claim_end; END->evidence and the like are borrowed from LOST.
 */
struct run_lost {
	const struct dirs *dirs;
	const struct config *config;
	const struct container_orphan *orphan; /* of another runtime; NULL: a run of custody */
	int run_dir; /* RUN/sessions/ID with its recovery files, borrowed; -EBADF: missing */
	struct evidence_taken taken;
	char *error;
};

void run_lost_capture(void *lost, const struct ledger_run *names, bool started, struct ledger_end *end);
void run_lost_done(struct run_lost *l);
#define _cleanup_run_lost_ _cleanup_(run_lost_done)

/* Keeps the upper of the lost session of note N in DIR, its state, for review.  False: not kept; the reason is logged. */
bool run_lost_keep_upper(const struct dirs *d, const struct config *c, const struct session_note *n,
			 int run_dir, int dir);
