/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approver-impl.h"
#include "approval/grant.h"
#include "approval/request-impl.h"

/*
 * Inside the files of grants only.
 *
 * STATE/grants/DIGEST16-ID.json: the signed statement, one line.
 *
 * STATE/grants/ID.uses: its uses, under the hash of its statement.
 *
 * STATE/grants/lock.
 *
 * The uses exist before the statement, and a statement without them does not count: deleting them invalidates
 * the grant and does not renew it.
 */
#define GRANT_FILE_SIZE (REQUEST_ID_SIZE + GRANT_ID_SIZE + sizeof("-.json"))
#define GRANT_CLOCK_SLACK_US ((uint64_t)60 * 1000000) /* between two machines, or after a clock was set */
#define SESSION_NAME_MAX 63

struct grant_reservation {
	char session[SESSION_NAME_MAX + 1];
	pid_t pid;
	uint64_t start; /* of PID, in ticks since boot: pids are reused, this is not */
	uint64_t pidns;
	char boot[9];
	uint64_t seq; /* of the ledger: a consume record, if any, follows it */
};

struct grant_uses {
	struct digest statement;
	uint64_t used;
	/* The last session that used it: `restart_window` will check whether a restart may use it. */
	char last_session[SESSION_NAME_MAX + 1];
	struct moment last;
	struct grant_reservation *reserved;
	size_t n_reserved;
	char *revoked_by; /* NULL: not revoked */
	uint64_t revoked_us;
	bool changed; /* in memory only */
};
void grant_uses_done(struct grant_uses *u);
#define _cleanup_uses_ _cleanup_(grant_uses_done)

/* -ENOENT with nothing in F. */
int grant_uses_read(int dirfd, const struct grant *g, struct grant_uses *ret, struct fault *f) _must_check_;
int grant_uses_load(int dirfd, const char *id, struct grant_uses *ret, struct fault *f) _must_check_;
int grant_uses_write(int dirfd, const struct grant_uses *u, struct fault *f) _must_check_;
int grant_uses_add(struct grant_uses *u, const struct grant_reservation *r, struct fault *f) _must_check_;
bool grant_uses_drop(struct grant_uses *u, const char *session);
const struct grant_reservation *grant_uses_find(const struct grant_uses *u, const char *session);

/* Fills the reservation for PID (0: ours). */
int grant_reservation_init(struct grant_reservation *r, const char *session, pid_t pid,
			   const struct moment *now, struct fault *f) _must_check_;
/* Has its holder certainly exited? */
bool grant_reservation_is_dead(const struct grant_reservation *r, const struct moment *now);

/* Does the ledger have a record that R was used?  1, 0 or negative. */
int grant_uses_was_consumed(const struct approval_store *d, const struct grant_uses *u,
			    const struct grant_reservation *r, struct fault *f) _must_check_;

/*
 * Removes the reservations of dead sessions.  Each was consumed if the ledger has a record, else it is
 * returned.  RET_RETURNED (heap, NULL-terminated names, may be NULL): sessions whose reservation was
 * returned.
 */
int grant_uses_settle(const struct approval_store *d, struct grant_uses *u, const struct moment *now,
		      char ***ret_returned, struct fault *f) _must_check_;

/* A grant in the directory, and its state. */
struct grant_item {
	struct grant_found found;
	struct grant_uses uses;
	const struct approver *approver; /* NULL: unknown */
	char **returned;		 /* dead sessions whose reservations were returned */
	bool chosen;
};

struct grant_items {
	struct grant_item *items;
	size_t n;
	struct approver_list approvers;
	char *ledger; /* of the store */
};
void grant_items_done(struct grant_items *l);
#define _cleanup_items_ _cleanup_(grant_items_done)

/* Conditions for a grant; all but LANE may be empty. */
struct grant_judgement {
	const struct approval_store *store;
	struct moment now;
	const struct grant_query *query; /* NULL: any */
	const char *session;		 /* its own reservations do not count against it; NULL: none */
	bool only_reserved;		 /* by SESSION */
	const char *ledger;		 /* for which it must be; NULL: the store's own */
};

/*
 * Checks statement, key, signature and ledger, which do not depend on clock or uses.  LEDGER: where it is to count.
 * RET_BY: its approver.
 */
enum grant_reason grant_judge_text(const struct approval_store *d, const struct grant *g,
				   const struct approver_list *l, const char *ledger,
				   const struct approver **ret_by);
bool grant_fleet_has(const struct approval_fleet *fleet, const char *ledger);
/* Is it over, whatever else holds?  Needs the uses of exactly this statement, and no signature. */
enum grant_reason grant_judge_over(const struct grant_judgement *j, const struct grant_item *item);
/* All checks.  Pure. */
enum grant_reason grant_judge(const struct grant_judgement *j, const struct grant_item *item);
bool grant_is_self(const struct approval_store *d, const struct grant *g, const struct approver *by,
		   const struct grant_query *q);
uint64_t grant_uses_allowed(const struct approval_store *d, const struct grant *g);
uint64_t grant_end_us(const struct approval_store *d, const struct grant *g); /* not_after, or the maximum */

/*
 * Reads and checks every grant of the directory (DIGEST: of that subject only).  Under the lock, or
 * read-only.
 */
int grant_items_load(const struct grant_judgement *j, int dirfd, const struct digest *digest,
		     struct grant_items *ret, struct fault *f) _must_check_;
/* Marks the grants that together are an approval, and sets the overall reason. */
void grant_items_choose(const struct approval_store *d, struct grant_items *l, enum grant_reason *ret_reason);
void grant_items_choose_reserved(const struct approval_store *d, struct grant_items *l, const char *session,
				 enum grant_reason *ret_reason);
/* Moves the grants to RET, chosen ones first. */
int grant_items_take(const struct approval_store *d, struct grant_items *l, enum grant_reason reason,
		     struct grant_set *ret, struct fault *f) _must_check_;

/* The parts of RQ, and their digest, into G. */
int grant_bind_always(const struct approval_store *d, const struct request *rq, struct grant *g,
		      struct fault *f) _must_check_;
int grant_seal(struct grant *g, const struct sign_secret *key, struct fault *f) _must_check_;
bool grant_signature_verify(const struct grant *g, const struct sign_public *key);
void grant_file_name(const struct grant *g, char name[GRANT_FILE_SIZE]);
struct jdoc *grant_details(const struct grant *g);
