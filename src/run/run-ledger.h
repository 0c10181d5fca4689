/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "ledger/ledger-claim.h"
#include "state/sandbox-root.h"
#include "session/session.h"
#include "container/container-orphan.h"
#include "session/run-result.h"

/*
 * What one run tells the ledger.  `run` is filled by the caller before it intends or is refused, and lives as long as
 * the record.  Nothing of a session may be made before run_ledger_intend has returned 0.
 */
struct run_ledger {
	const char *state;	     /* of the lane, borrowed */
	const struct dirs *dirs;     /* for the evidence of the dead; borrowed */
	const struct config *config; /* NULL: it could not be read, and nothing is taken */
	const struct sandbox_root
		*root; /* where it works, whose log says the same; NULL: in none; borrowed */
	const struct container_orphan *orphan; /* while the end of one is told; else NULL */
	int run_dir; /* RUN/sessions/ID of the dead one whose end is told, borrowed; else -EBADF */
	struct ledger *ledger;
	struct ledger_run run;
	struct claim claim;
	struct audit *audit;
	uint64_t alive_ns; /* of the last sign of life */
	bool started;	   /* said so: from here on nobody can call it a refusal */
};
#define RUN_LEDGER_NONE ((struct run_ledger){ .claim = CLAIM_NONE, .run_dir = -EBADF })

/* The lane's ledger, made when there is none. */
int run_ledger_open(struct run_ledger *r, struct fault *f) _must_check_;
/* On the disk when it returns 0; -EUCLEAN, -ENOSPC ...: F says what to do, and nothing may start. */
int run_ledger_intend(struct run_ledger *r, struct fault *f) _must_check_;
/* The session's own chain, in STATE/sessions/ID.  Not synced. */
int run_ledger_attach(struct run_ledger *r, struct session *s, const struct dirs *d,
		      struct fault *f) _must_check_;
int run_ledger_start(struct run_ledger *r, pid_t pid, const enum layer_state *layers,
		     struct fault *f) _must_check_;
int run_ledger_tick(struct run_ledger *r); /* as struct warden_job wants it */

/* While the creator works: ends of the dead, and the intent's checkpoint where somebody waits for it. */
void run_ledger_meanwhile(struct run_ledger *r, const struct dirs *d);
/* The first half of that.  Not being able to tell one end does not keep the others. */
int run_ledger_sweep(struct run_ledger *r, const struct dirs *d, struct fault *f) _must_check_;
/* ID's supervisor is dead and its container gone; before its directories go. */
int run_ledger_lost(struct run_ledger *r, const char *id, struct fault *f) _must_check_;

/* The session's own chain has its last record now; its evidence may be taken. */
void run_ledger_close(struct run_ledger *r, const struct run_result *res);
/* How it ended; a set-up that failed is a refusal.  Negative: it is not recorded, the next start calls it lost. */
int run_ledger_end(struct run_ledger *r, const struct run_result *res, struct fault *f) _must_check_;
/* ID is stable; a run that had started is not refused any more, it ends as lost.  TEXT is for people.  What cannot be recorded is said aloud. */
void run_ledger_refuse(struct run_ledger *r, const char *id, const char *text);

const char *run_ledger_remedy(int e); /* what to do about a state directory that says E, for people */
void run_ledger_done(struct run_ledger *r);
#define _cleanup_run_ledger_ _cleanup_(run_ledger_done)
