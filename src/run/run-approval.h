/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-lane.h"
#include "approval/approval-obtain.h"
#include "run/run-plan.h"
#include "subject/subject-digest.h"
#include "ledger/ledger-session.h"

/*
 * Between the verdict and the start: nobody passes without a yes that is bound to the digest.  Opened with the lane's
 * ledger, before the intent; what was reserved is consumed right before GO, or given back.
 */
struct run_approval {
	const struct run_plan *plan; /* judged; borrowed */
	struct approval_lane approval_lane;
	struct approval approval;
	struct grant_query query;
	const char *session;
	bool reserved;
	char *by; /* who said yes, for the record */
	char digest[SUBJECT_DIGEST_SIZE];
	struct jdoc *verdict; /* as a document */
	struct redact redact;
	char **redact_flags;
};
#define RUN_APPROVAL_NONE ((struct run_approval){ .approval_lane.store.dirfd = -EBADF })

/*
 * What the site and, once it is loaded, the profile call secret, on top of the built-in lists: before anything of RUN is
 * recorded, a refusal included.  RUN borrows from G.
 */
int run_approval_redact(struct run_approval *g, const struct run_plan *d, struct ledger_run *run,
			struct fault *f) _must_check_;
/* Digest and verdict of D into RUN, which borrows from G; nothing is asked yet. */
int run_approval_describe(struct run_approval *g, const struct run_plan *d, struct ledger_run *run,
			  struct fault *f) _must_check_;

/*
 * 0: go on; RUN->approval says who allowed it.  Negative: refused; *RET_STATUS is what `custody run` ends with,
 * *RET_REFUSED the kind for the ledger, F what is said.
 */
int run_approval_ask(struct run_approval *g, const struct run_options *o, struct ledger *l,
		     struct ledger_run *run, int *ret_status, const char **ret_refused,
		     struct fault *f) _must_check_;

/* Right before GO.  0: the grants are used up, on the record, on the disk. */
int run_approval_consume(struct run_approval *g, struct fault *f) _must_check_;
/* It never started; nothing reserved: nothing done. */
void run_approval_release(struct run_approval *g, const char *why);

void run_approval_done(struct run_approval *g);
#define _cleanup_run_approval_ _cleanup_(run_approval_done)
