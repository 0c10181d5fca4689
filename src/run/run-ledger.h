/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "decision/decision.h"
#include "session/run-result.h"
#include "session/session.h"
#include "state/sandbox-root.h"

/*
 * The records of one own run: those of its decision, the same events in the session's own chain, and one line each in the
 * log of the sandbox root.
 */
struct run_ledger {
	struct decision *decision;	 /* borrowed */
	const struct sandbox_root *root; /* whose log is written; NULL: none; borrowed */
	struct audit *audit;		 /* the session's own chain */
};

/* decision_open; reports that a ledger was created. */
int run_ledger_open(struct run_ledger *r, struct fault *f) _must_check_;
/* decision_intend, then the log.  Nothing of a session may be created before it has returned 0. */
int run_ledger_intend(struct run_ledger *r, struct fault *f) _must_check_;
/* The session's own chain, in STATE/sessions/ID.  Not synced. */
int run_ledger_attach(struct run_ledger *r, struct session *s, struct fault *f) _must_check_;
/* A checkpoint of the intent for the audit peer, if one is configured. */
void run_ledger_push(const struct run_ledger *r);
/* decision_start with the layers as proven. */
int run_ledger_start(struct run_ledger *r, pid_t pid, const enum layer_state *layers,
		     struct fault *f) _must_check_;
/* The last record of the session's own chain; its evidence may be captured afterwards. */
void run_ledger_close(struct run_ledger *r, const struct run_result *res);
/* decision_end.  Negative: not recorded, and the next start records `lost`. */
int run_ledger_end(struct run_ledger *r, const struct run_result *res, struct fault *f) _must_check_;
/* decision_refuse.  A failure is logged. */
void run_ledger_refuse(struct run_ledger *r, const char *text);

void run_ledger_done(struct run_ledger *r);
#define _cleanup_run_ledger_ _cleanup_(run_ledger_done)
