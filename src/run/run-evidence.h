/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/run-plan.h"
#include "run/run-prepare.h"
#include "session/run-result.h"
#include "session/session.h"
#include "warden/output-tail.h"

/*
 * Evidence of a run that ended abnormally.  A descriptor holds the worktree from before the payload's first instruction: it
 * stays readable after the container and its mounts are gone.
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
	const struct session *session;	     /* its directories still exist */
	const char *upper;		     /* of an overlay; NULL: none */
	const struct overlay_server *server; /* of the worktree; its fd is -EBADF: the kernel's overlay */
	const struct session_config *config;
	bool interactive;
};

/* After the last process exited.  RES gets the path, or the reason why there is no evidence although it is due. */
void run_evidence_capture(struct run_evidence *e, const struct run_evidence_case *c, struct run_result *res);
