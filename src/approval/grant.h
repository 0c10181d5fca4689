/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "approval/approver.h"
#include "approval/request.h"

/*
 * A signed approval: "NAME approves DIGEST in LANE at LEVEL, USES times, until NOT_AFTER, for LEDGERS".  It may be
 * passed as a file or an annotation: the statement and its signature count, not the place.  Its uses are stored
 * under the statement's hash, apart from the file: a copy is the same grant.  LEDGERS is the ledger that asked, or a
 * fleet, each of which counts its own uses: in any other state the grant is refused.
 */
#define GRANT_ID_SIZE 17     /* first 16 hex digits of the statement's hash, as displayed */
#define GRANT_TEXT_MAX 16384 /* of a file, an annotation */
#define GRANT_FLEET_SIZE 65
#define GRANT_REASON_MAX 1024 /* bytes of an approver's reason */

struct grant {
	char id[GRANT_ID_SIZE];
	struct digest statement; /* SHA-256 of the signed bytes */
	struct digest digest;	 /* of the subject */
	char lane[16];
	char level; /* 'B', 'C' */
	uint64_t uses;
	struct moment decided;
	uint64_t not_after_us;
	char approver[APPROVER_NAME_MAX + 1];
	char key_id[APPROVER_KEY_ID_SIZE];
	uid_t uid;		      /* of the process that signed, on its host */
	char **askers;		      /* "UID:NAME" */
	char **ledgers;		      /* public keys; empty: signed by an older version, and refused */
	char fleet[GRANT_FLEET_SIZE]; /* name of the fleet that LEDGERS is; "": one ledger */
	char nonce[33];
	char *reason; /* "" for none */
	/* Standing: DIGEST is of these parts, not of a subject, and it answers any number of Bs.  NULL: it is not. */
	struct jdoc *standing;
	char *text; /* the file: one line, canonical */
};
void grant_done(struct grant *g);
#define _cleanup_grant_ _cleanup_(grant_done)

/* Why a grant does not count.  Zero is no valid answer, so that a forgotten one is not a yes. */
enum grant_reason {
	GRANT_UNDECIDED = 0,
	GRANT_VALID,
	GRANT_NONE, /* no approval exists */
	GRANT_EXPIRED,
	GRANT_REVOKED,
	GRANT_CONSUMED,
	GRANT_RESERVED, /* every remaining use is reserved by a session that is about to start */
	GRANT_FOREIGN_LANE,
	GRANT_FOREIGN_LEDGER, /* asked for by another ledger: another state directory, or one that was removed */
	GRANT_UNBOUND,	      /* names no ledger */
	GRANT_UNKNOWN_FLEET, /* the admin's custody.json has no such fleet with this ledger */
	GRANT_FLEET_FOR_C,   /* a level C is for one ledger */
	GRANT_EDITED,	     /* statement and signature differ, or not a grant */
	GRANT_UNKNOWN_KEY,
	GRANT_WRONG_DIGEST,
	GRANT_LEVEL_TOO_LOW,
	GRANT_SELF_APPROVAL,
	GRANT_NOT_YET_VALID, /* decided in the future: the clock was set back */
	GRANT_TOO_FEW_APPROVALS,
	GRANT_UNREGISTERED, /* a file that was copied here by hand, or whose uses were removed */
	_GRANT_REASON_MAX,
};
const char *grant_reason_id(enum grant_reason r);   /* "expired", "foreign-lane": stable */
const char *grant_reason_text(enum grant_reason r); /* for people, with the fix */

/*
 * Text -> statement, strictly: canonical JSON, no unknown key, no other type.  Verifies no signature.  Pure.
 */
int grant_parse(const char *text, size_t len, const char *label, struct grant *ret,
		struct fault *f) _must_check_;

/*
 * --- signing ----------------------------------------------------------------------------------------------
 */

struct grant_terms {
	char level;	    /* of the signature: 'C' iff KEY is the one behind the PIN; >= the request's */
	uint64_t uses;	    /* 0: 1; level C: 1 */
	uint64_t for_s;	    /* 0: APPROVAL_GRANT_S; capped by the rules: more is refused */
	const char *reason; /* NULL: none */
	const char *fleet;  /* NULL: for the ledger that asked */
	bool always;	    /* a standing approval of the parts that the request names; level C */
};

/* Seconds of TERMS, or their default. */
uint64_t grant_terms_time(const struct grant_terms *t);
/* May RQ be answered with a standing approval?  -EPERM with the reason.  Checked again by grant_sign. */
int grant_require_always(const struct approval_store *d, const struct request *rq,
			 struct fault *f) _must_check_;

const struct approval_fleet *grant_find_fleet(const struct approval_rules *rules,
					      const char *name); /* NULL: none */
/* May a request of LEVEL from LEDGER be answered for FLEET (NULL: for LEDGER alone)?  Checked again by grant_sign. */
int grant_require_fleet(const struct approval_rules *rules, const char *fleet, char level, const char *ledger,
			struct fault *f) _must_check_;

/*
 * Signs, records (approval.grant), stores.  The request is removed with its last missing approval.  KEY is
 * from approver_unlock or pin_try.  RET_COMPLETE: a start would find enough approvals now.
 */
int grant_sign(const struct approval_store *d, const struct request *rq, const struct approver *by,
	       const struct sign_secret *key, const struct grant_terms *terms, struct grant *ret,
	       bool *ret_complete, struct fault *f) _must_check_;

/*
 * A grant that was signed elsewhere with a key that counts here.  RET_REASON: accepted (GRANT_VALID) or why
 * not; accepting it again is no error, also when it is consumed.  DIGEST NULL: any.  Recorded with
 * "imported".
 */
int grant_import(const struct approval_store *d, const char *path, const struct digest *digest,
		 struct grant *ret, enum grant_reason *ret_reason, struct fault *f) _must_check_;
int grant_import_text(const struct approval_store *d, const char *text, size_t len, const char *label,
		      const struct digest *digest, struct grant *ret, enum grant_reason *ret_reason,
		      struct fault *f) _must_check_;

/* By id or an unambiguous beginning.  Recorded (approval.revoke) first; overrides a reservation. */
int grant_revoke(const struct approval_store *d, const char *id, const char *by, const char *reason,
		 struct fault *f) _must_check_;

/*
 * --- use --------------------------------------------------------------------------------------------------
 */

struct grant_query {
	const struct digest *digest;
	char level; /* at least this */
	uid_t uid;  /* user who starts it */
	const char *user;
	bool standing; /* DIGEST is of standing_digest: standing approvals only; else none of them */
	bool once;     /* the first use is the last, whatever the grant says */
};

/* One grant and its state now. */
struct grant_found {
	struct grant grant;
	enum grant_reason reason;
	uint64_t used, reserved; /* of grant.uses */
	char *revoked_by;	 /* NULL unless revoked */
};

/* All grants for the digest, and the result.  SUMMARY.reason is GRANT_VALID iff enough of them count. */
struct grant_set {
	struct grant_found *items; /* those that make up the approval first */
	size_t n, n_chosen;
	enum grant_reason reason;
	unsigned int needed; /* approvals */
};
void grant_set_done(struct grant_set *s);
#define _cleanup_grants_ _cleanup_(grant_set_done)

/* Read-only.  A refusal is a result; a failure to decide is negative. */
int grant_find(const struct approval_store *d, const struct grant_query *q, struct grant_set *ret,
	       struct fault *f) _must_check_;
int grant_list(const struct approval_store *d, struct grant_set *ret,
	       struct fault *f) _must_check_; /* all of the lane */
/* "3 grants, none counts: 1a2b... expired; ..." for the message of a refusal.  Heap, NULL on ENOMEM. */
char *grant_set_explain(const struct grant_set *s);

/* Holder of a reservation: it is returned when this process has exited.  PID 0: the caller. */
struct grant_owner {
	const char *session;
	pid_t pid;
};

/*
 * Finds and reserves in one step, for every required approval: of two starts that race for one use, one gets
 * GRANT_RESERVED.  RET->reason is GRANT_VALID iff reserved.  Recorded (grant.reserve).
 */
int grant_reserve(const struct approval_store *d, const struct grant_query *q,
		  const struct grant_owner *owner, struct grant_set *ret, struct fault *f) _must_check_;

/*
 * Right before the start, with the digest of the subject to start.  The reservation of SESSION is checked
 * again (revoked, expired, another digest: no start), recorded (grant.consume, synced), then counted.  Start
 * iff 0 and RET->reason is GRANT_VALID; else SESSION is over, and grant_release settles its use.
 */
int grant_consume(const struct approval_store *d, const struct grant_query *q, const char *session,
		  struct grant_set *ret, struct fault *f) _must_check_;

/* SESSION did not start.  Without a reservation nothing is done.  WHY: "setup-failed", "cancelled" ... */
int grant_release(const struct approval_store *d, const char *session, const char *why,
		  struct fault *f) _must_check_;

/* Removes grants that can never count again: expired for a day.  Returns their number. */
int grant_sweep(const struct approval_store *d, struct fault *f) _must_check_;
