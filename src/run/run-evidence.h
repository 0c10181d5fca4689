/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/run-plan.h"
#include "run/run-prepare.h"
#include "evidence/evidence.h"
#include "ledger/ledger-session.h"
#include "session/session-note.h"
#include "session/session.h"
#include "container/container-orphan.h"
#include "session/run-result.h"
#include "warden/output-tail.h"

/*
 * What a run keeps of an abnormal end.  The worktree is held by a descriptor from before the payload's first
 * instruction: it stays readable when the container and its mounts are gone.
 */
struct run_evidence {
	int tree;
	struct tail tail; /* of standard output and error */
};
#define RUN_EVIDENCE_NONE ((struct run_evidence){ .tree = -EBADF, .tail = TAIL_NONE })

/* PID is the container's first process, not released yet. */
int run_evidence_hold(struct run_evidence *e, pid_t pid, const struct subject *s,
		      struct fault *f) _must_check_;
void run_evidence_done(struct run_evidence *e);
#define _cleanup_run_evidence_ _cleanup_(run_evidence_done)

struct run_evidence_case {
	const struct run_plan *plan;
	const struct session *session;	     /* its directories are still there */
	const char *upper;		     /* of an overlay; NULL: none */
	const struct overlay_server *server; /* what the worktree is asked of; its fd is -EBADF: the kernel */
	const struct session_config *config;
	bool interactive;
};

/* Nothing is alive any more.  RES gets the path, or why there is none although there should be. */
void run_evidence_take(struct run_evidence *e, const struct run_evidence_case *c, struct run_result *res);

/*
 * Of a session whose supervisor died: what is left of it is its layer of changes.  Called as struct claim_end wants it,
 * with END->evidence and the like borrowed from LOST.
 */
struct session_lost {
	const struct dirs *dirs;
	const struct config *config;
	const struct container_orphan *orphan; /* of another runtime; NULL: a run of custody's own */
	int run_dir; /* RUN/sessions/ID with its papers, borrowed; -EBADF: it is gone */
	struct evidence_taken taken;
	char *error;
};
void run_evidence_lost(void *lost, const struct ledger_run *names, bool started, struct ledger_end *end);
void session_lost_done(struct session_lost *l);
/* Of the lost session of note N: does its layer stay for review in DIR, its state?  What keeps it from staying is said. */
bool session_keep_lost(const struct dirs *d, const struct config *c, const struct session_note *n,
		       int run_dir, int dir);
#define _cleanup_session_lost_ _cleanup_(session_lost_done)
