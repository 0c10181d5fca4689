/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/run-plan.h"
#include "run/run-approval.h"
#include "run/run-ledger.h"
#include "run/run.h"
#include "session/session-note.h"
#include "session/session.h"

/* Private to session-run, session-supervise and session-describe. */

/* Everything that one run owns, in the order it is made. */
struct session_run {
	char id[SESSION_ID_SIZE];
	struct run_plan plan; /* what is to run, and what policy says of it */
	struct lane_pass *pass;
	struct run_approval gate;
	struct run_ledger record;
	struct session_note note;
	int status; /* of a refusal: what `custody run` ends with */
};

/* Names of refusals in the ledger: stable.  Those of plan and gate come on top. */
#define REFUSED_LANE "lane"
#define REFUSED_POLICY "policy"
#define REFUSED_UNSUPPORTED "unsupported"
#define REFUSED_INSTALLATION "installation"
#define REFUSED_LIMITS "limits"
#define REFUSED_LAYER "layer"
#define REFUSED_SETUP "setup-failed"

/* The steps that --dry-run shares: an empty one; both keys of its lane; profile and subject; digest and verdict. */
int run_session_new(struct session_run **ret, struct fault *f) _must_check_;
int run_session_enter(struct session_run *r, const struct run_options *o, struct fault *f) _must_check_;
int run_session_load(struct session_run *r, const struct run_options *o, const char *id,
		     const char **ret_refused, struct fault *f) _must_check_;
int run_session_judge(struct session_run *r, const struct run_options *o, const char **ret_refused,
		      struct fault *f) _must_check_;

/* From the cgroup to the last byte of output, and the evidence; S is open, and removed by the caller. */
int session_supervise(struct session_run *run, const struct run_options *o, struct session *s,
		      struct run_result *ret, const char **ret_refused, struct fault *f) _must_check_;
/* The note of the session, before GO and when it is over; S then says that there is one to stay. */
int run_note_begin(struct session_run *run, const struct run_options *o, struct session *s,
		   struct fault *f) _must_check_;
void run_note_end(struct session_run *run, struct session *s, const struct run_result *res);
/*
 * DIR is the session's state, whose layer of changes is not empty: does it stay, described?  What of the worktree was
 * changed after SINCE_US was not seen by it.
 */
bool session_keep(const struct session_run *run, int dir, uint64_t since_us);
/* The same for whoever finds us dead: what it must know of the layer, left in RUN_DIR.  Nothing, if it is not to stay. */
int session_keep_announce(const struct session_run *run, int run_dir, struct fault *f) _must_check_;
/* What could not be cleaned up, ignoring. */
void session_complain(int r, struct fault *f);
