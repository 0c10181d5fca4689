/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-open.h"
#include "approval/approval-obtain.h"
#include "run/run-plan.h"
#include "subject/subject-digest.h"
#include "ledger/ledger-session.h"

/*
 * Between the verdict and the start: nobody passes without a yes that is bound to the digest.  Opened with the lane's
 * ledger, before the intent; what was reserved is consumed right before GO, or given back.
 */
struct session_gate {
	const struct docket *docket; /* judged; borrowed */
	struct approval_desk desk;
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
#define SESSION_GATE_NONE ((struct session_gate){ .desk.desk.dirfd = -EBADF })

/*
 * What the site and, once it is loaded, the profile call secret, on top of the built-in lists: before anything of RUN is
 * recorded, a refusal included.  RUN borrows from G.
 */
int session_gate_redact(struct session_gate *g, const struct docket *d, struct ledger_run *run,
			struct fault *f) _must_check_;
/* Digest and verdict of D into RUN, which borrows from G; nothing is asked yet. */
int session_gate_describe(struct session_gate *g, const struct docket *d, struct ledger_run *run,
			  struct fault *f) _must_check_;

/*
 * 0: go on; RUN->approval says who allowed it.  Negative: refused; *RET_STATUS is what `custody run` ends with,
 * *RET_REFUSED the kind for the ledger, F what is said.
 */
int session_gate_ask(struct session_gate *g, const struct run_options *o, struct ledger *l,
		     struct ledger_run *run, int *ret_status, const char **ret_refused,
		     struct fault *f) _must_check_;

/* Right before GO.  0: the grants are used up, on the record, on the disk. */
int session_gate_consume(struct session_gate *g, struct fault *f) _must_check_;
/* It never started; nothing reserved: nothing done. */
void session_gate_release(struct session_gate *g, const char *why);

void session_gate_done(struct session_gate *g);
#define _cleanup_session_gate_ _cleanup_(session_gate_done)
