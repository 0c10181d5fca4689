/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <signal.h>

#include "decision/decision.h"
#include "run/run-approval.h"
#include "run/run-ledger.h"
#include "run/run-plan.h"
#include "run/run.h"
#include "session/session-note.h"
#include "session/session.h"

/* Private to src/run. */

/* Everything that one run owns, in the order in which it is created. */
struct run {
	const struct run_options *options; /* borrowed */
	struct run_result *result;	   /* the caller's; its command is SHOWN */
	char **shown;			   /* the command, redacted as in the records */
	char *remedy;			   /* of a refusal, for people: lines to paste; NULL: none */
	char id[SESSION_ID_SIZE];
	struct run_plan plan;
	struct decision decision;
	struct run_ledger ledger;
	bool signals_held;
	sigset_t signals; /* blocked before */
	struct session session;
	struct session_note note;
};

/* Names of refusals in the ledger: stable.  Those of plan, decision and ledger come on top. */
#define REFUSED_UNSUPPORTED "unsupported"
#define REFUSED_INSTALLATION "installation"
#define REFUSED_PROGRAM "program"
#define REFUSED_LIMITS "limits"
#define REFUSED_LAYER "layer"
#define REFUSED_SETUP "setup-failed"

/* The steps that --dry-run shares: an empty run; directories, configuration, lane; both keys; profile and subject. */
int run_new(const struct run_options *o, struct run **ret, struct fault *f) _must_check_;
int run_locate(struct run *run, struct fault *f) _must_check_;
int run_enter(struct run *run, struct fault *f) _must_check_;
int run_load(struct run *run, const char *id, struct fault *f) _must_check_;

/* From the cgroup to the last byte of output, and the evidence; the session is open and removed by the caller. */
int run_supervise(struct run *run, struct fault *f) _must_check_;

/* session.json of the session, before GO and at its end; SESSION.has_note then says whether it stays. */
int run_note_begin(struct run *run, struct fault *f) _must_check_;
void run_note_end(struct run *run);

/*
 * DIR is the session's state with a non-empty upper: is the upper kept and described?  It does not contain changes
 * that others made to the worktree after SINCE_US.
 */
bool run_keep_upper(const struct run *run, int dir, uint64_t since_us);
/* The same for recovery: describes the upper in RUN_DIR.  Nothing if it is not to be kept. */
int run_keep_upper_announce(const struct run *run, int run_dir, struct fault *f) _must_check_;

/* Logs a failed cleanup; the next start tries again. */
void run_report_leftover(int r, struct fault *f);
