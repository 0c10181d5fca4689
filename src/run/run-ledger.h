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
 * the record.  Nothing of a session may be made before session_record_intend has returned 0.
 */
struct session_record {
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
#define SESSION_RECORD_NONE ((struct session_record){ .claim = CLAIM_NONE, .run_dir = -EBADF })

/* The lane's ledger, made when there is none. */
int session_record_open(struct session_record *r, struct fault *f) _must_check_;
/* On the disk when it returns 0; -EUCLEAN, -ENOSPC ...: F says what to do, and nothing may start. */
int session_record_intend(struct session_record *r, struct fault *f) _must_check_;
/* The session's own chain, in STATE/sessions/ID.  Not synced. */
int session_record_attach(struct session_record *r, struct session *s, const struct dirs *d,
			  struct fault *f) _must_check_;
int session_record_start(struct session_record *r, pid_t pid, const enum layer_state *layers,
			 struct fault *f) _must_check_;
int session_record_tick(struct session_record *r); /* as struct warden_job wants it */

/* While the creator works: ends of the dead, and the intent's checkpoint where somebody waits for it. */
void session_record_meanwhile(struct session_record *r, const struct dirs *d);
/* The first half of that.  Not being able to tell one end does not keep the others. */
int session_record_sweep(struct session_record *r, const struct dirs *d, struct fault *f) _must_check_;
/* ID's supervisor is dead and its container gone; before its directories go. */
int session_record_lost(struct session_record *r, const char *id, struct fault *f) _must_check_;

/* The session's own chain has its last record now; its evidence may be taken. */
void session_record_close(struct session_record *r, const struct run_result *res);
/* How it ended; a set-up that failed is a refusal.  Negative: it is not recorded, the next start calls it lost. */
int session_record_end(struct session_record *r, const struct run_result *res, struct fault *f) _must_check_;
/* ID is stable; a run that had started is not refused any more, it ends as lost.  TEXT is for people.  What cannot be recorded is said aloud. */
void session_record_refuse(struct session_record *r, const char *id, const char *text);

const char *session_record_remedy(int e); /* what to do about a state directory that says E, for people */
void session_record_done(struct session_record *r);
#define _cleanup_session_record_ _cleanup_(session_record_done)
