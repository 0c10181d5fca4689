/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-lane.h"
#include "approval/grant.h"
#include "base/exit-status.h"
#include "config/config-redact.h"
#include "config/config.h"
#include "container/warden-request.h"
#include "ledger/ledger-claim.h"
#include "ledger/ledger-session.h"
#include "policy/policy.h"
#include "state/digest-key.h"
#include "state/dirs.h"
#include "state/lane.h"
#include "subject/subject-digest.h"
#include "subject/subject.h"

/*
 * The decision about one start and its records: one pipeline for `custody run`, `custody-hook approve`, custody-
 * warden and recovery.  docs/design/decision.md.
 *
 * The functions stand in the order in which they are called.  A negative return is a refusal: nothing may start.
 * REFUSED and STATUS then describe it, and decision_refuse records it.  The struct must not be moved or copied.
 */
struct decision {
	/* Set by the caller, borrowed. */
	const struct dirs *dirs;     /* of the lane; of the sandbox lane once the gate has refused prod */
	const struct config *config; /* NULL: not readable, and nothing can be decided */
	struct ledger_run run;	     /* the names that every record repeats */

	/* Results.  The steps of the caller set REFUSED and STATUS as well. */
	const char *
		refused; /* stable name of the current step in the ledger; NULL: its refusal is not recorded */
	int status;	 /* exit status of a refusal */
	struct lane_pass *pass; /* for session_open */
	struct ledger *ledger;
	bool ledger_created; /* by decision_open; its first seal key is in LEDGER_FIRST_KEY */
	struct verdict *verdict;
	struct grant_set grants; /* approvals that were found */
	bool reserved;		 /* a grant belongs to this session until it is consumed or released */
	bool started;		 /* decision_start was called: from here on an end, not a refusal */

	/* Private to src/decision. */
	struct dirs sandbox;
	struct config_redact redact;
	struct digest digest;
	char digest_text[SUBJECT_DIGEST_SIZE];
	struct jdoc *verdict_document;
	struct approval_lane approval;
	struct grant_query query;
	char *approvers;
	/* Step 4: parts of a standing approval, or why there can be none; the rest only with parts. */
	struct jdoc *standing;
	struct digest standing_digest;
	struct grant_query standing_query; /* digest NULL: there can be none */
	struct verdict *standing_verdict;  /* with the intention of a task */
	char *standing_note; /* why those that exist do not answer, for people; NULL: none exists */
	struct claim claim;
	uint64_t alive_ns; /* of the last heartbeat */
};

#define DECISION_NONE \
	((struct decision){ .status = STATUS_FAILED, .approval = APPROVAL_LANE_NONE, .claim = CLAIM_NONE })

/* The start to decide about; borrowed. Zero is the strictest value of SECURITY: callers set it. */
struct decision_question {
	const struct subject *subject; /* NULL: a container of an engine, with FACTS and ARGV instead */
	const struct policy_facts *facts;
	char *const *argv;
	const struct jdoc *document;	/* canonical, of SUBJECT or of the container */
	const struct digest *digest;	/* of DOCUMENT; NULL with --dry-run: the lane has no key yet */
	char *const *provenance;	/* words of --provenance; NULL: none */
	enum security_profile security; /* at least as strict as this; SECURITY_OFF: as configured */
	const struct jdoc *governance;	/* section of the profile, NULL: none */
	const char *exempt; /* "doctor": levels B and C pass, granted by it; NULL: an approval is required */
	bool once;	    /* a grant counts for one start, however many uses it has */
	bool standing;	    /* a standing approval may answer it: runs of this program, not bundles */
	bool as_task; /* decision_verdict: the intention is at least a task's, as with a standing approval */
	const char *grant; /* text of a grant that came with the start; NULL: none */
	uint64_t wait_s;   /* without ASK: how long an approval is waited for; 0: refused at once */
	pid_t owner;	   /* process that holds the reservation; 0: the caller */
	/*
	 * Obtains the approval from a person: D->grants is filled and reserved when it returns 0.  NULL: existing
	 * grants only; without one a request is filed and the start is refused.
	 */
	int (*ask)(void *arg, struct decision *d, struct fault *f);
	void *arg;
};

/*
 * Redaction rules of the configuration and FLAGS of the profile (NULL: none): before any record, also of a refusal.
 */
int decision_redact(struct decision *d, char *const *flags, struct fault *f) _must_check_;
/* From here on placeholders have the digits of KEY, as in the subject.  D keeps the pointer. */
void decision_redact_with(struct decision *d, const struct digest_key *key);

/* The digest of the subject into the records, for callers that know it before step 3. */
void decision_name_digest(struct decision *d, const struct digest *digest);

/* 1. Both keys of prod.  Refused: nothing of prod is opened, and D records into the sandbox lane's ledger. */
int decision_enter(struct decision *d, const struct lane_ask *ask, struct fault *f) _must_check_;

/* 2. The ledger of the lane, created on first use. */
int decision_open(struct decision *d, struct fault *f) _must_check_;

/* 3. The verdict of policy, into D and its records. */
int decision_judge(struct decision *d, const struct decision_question *q, struct fault *f) _must_check_;

/* 4. Level A passes; B and C need a grant, which is reserved. */
int decision_approve(struct decision *d, const struct decision_question *q, struct fault *f) _must_check_;

/* 5. The prod override, the claim and the intent, on the disk when it returns 0.  Then session_open with D->pass. */
int decision_intend(struct decision *d, struct fault *f) _must_check_;

/* 6. In custody-warden: goes on where custody-hook stopped.  CLAIM_FD is D's from here on. */
int decision_resume(struct decision *d, const struct config *config, const struct warden_request *rq,
		    int claim_fd, struct fault *f) _must_check_;

/* 7. Right before the payload is released: the grant is verified again and used up, on the disk when it returns 0. */
int decision_consume(struct decision *d, struct fault *f) _must_check_;

/* 8. The start.  LAYERS: NULL-terminated "seccomp=proven" and the like, or NULL. */
int decision_start(struct decision *d, pid_t pid, char *const *layers, struct fault *f) _must_check_;

/* 9. A heartbeat and a sync when due.  Milliseconds until the next call. */
int decision_tick(struct decision *d);

/* 10. The end, on the disk when it returns 0; the claim is removed.  Negative: recovery records `lost`. */
int decision_end(struct decision *d, const struct ledger_end *end, struct fault *f) _must_check_;

/* Instead of 7-10: the grant is returned, WHY is a stable name.  Nothing reserved: nothing done. */
int decision_release(struct decision *d, const char *why, struct fault *f) _must_check_;
/* Instead of 10: D->refused with TEXT for people; `lost` if it had started.  The claim is removed. */
int decision_refuse(struct decision *d, const char *text, struct fault *f) _must_check_;

void decision_done(struct decision *d);
#define _cleanup_decision_ _cleanup_(decision_done)

/* The policy part of step 3 alone, for `custody check`, `bundle` and --dry-run. */
int decision_verdict(const struct decision_question *q, const struct config *c, struct verdict **ret,
		     struct fault *f) _must_check_;
/* What to do about a state directory that returned E, for people. */
const char *decision_remedy(int e);

/* A standing approval was reserved for D: its verdict and its query are those of the decision. */
int decision_take_standing(struct decision *d, const struct decision_question *q,
			   struct fault *f) _must_check_;

/* Private to src/decision: 1 and reserved if a standing approval answers; 0: none does. */
int decision_standing(struct decision *d, const struct decision_question *q, struct fault *f) _must_check_;
/* Private to src/decision: the verdict into the records. */
int decision_describe(struct decision *d, const struct digest *digest, struct fault *f) _must_check_;
/* Private to src/decision: files a request and returns the refusal that names it. */
int decision_request(struct decision *d, const struct decision_question *q, struct fault *f) _must_check_;
/* Private to src/decision: files a request and waits Q->wait_s for its answer; 0: reserved. */
int decision_wait(struct decision *d, const struct decision_question *q, struct fault *f) _must_check_;
/* Private to src/decision: the lane's approval store with the rules of the profile. */
int decision_open_approval(struct decision *d, const struct jdoc *governance, const char *profile,
			   struct fault *f) _must_check_;
