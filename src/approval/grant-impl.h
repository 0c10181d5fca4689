/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approver-impl.h"
#include "approval/grant.h"
#include "approval/request-impl.h"

/*
 * Inside the files of grants only.
 *
 *	STATE/grants/DIGEST16-ID.json	the signed statement, one line
 *	STATE/grants/ID.uses		what became of it, under the hash of its statement
 *	STATE/grants/lock
 *
 * The uses are there before the statement, and a statement without them does not count: who deletes them makes the
 * grant worthless, not new.
 */
#define GRANT_FILE_SIZE (REQUEST_ID_SIZE + GRANT_ID_SIZE + sizeof("-.json"))
#define GRANT_CLOCK_SLACK_US ((uint64_t)60 * 1000000) /* of two machines, or of a clock that is set right */
#define SESSION_NAME_MAX 63

struct grant_reservation {
	char session[SESSION_NAME_MAX + 1];
	pid_t pid;
	uint64_t start; /* of PID, in ticks since boot: pids come back, this does not */
	uint64_t pidns;
	char boot[9];
	uint64_t seq; /* of the ledger: a consume record, if there is one, stands behind it */
};

struct grant_uses {
	struct digest statement;
	uint64_t used;
	/* The last one that used it: where `restart_window` will look whether a restart may ride. */
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

/* Describes PID (0: ours) as the holder of a reservation. */
int grant_reservation_init(struct grant_reservation *r, const char *session, pid_t pid,
			   const struct moment *now, struct fault *f) _must_check_;
/* Is it certain that its holder is gone? */
bool grant_reservation_is_dead(const struct grant_reservation *r, const struct moment *now);

/* Does the ledger say that R was used?  1, 0 or negative. */
int grant_uses_was_consumed(const struct approval_store *d, const struct grant_uses *u,
			    const struct grant_reservation *r, struct fault *f) _must_check_;

/*
 * Takes out the reservations of the dead.  Each was consumed if the ledger says so, else it returns.  RET_RETURNED
 * (heap, NULL-terminated names, may be NULL): whose came back.
 */
int grant_uses_settle(const struct approval_store *d, struct grant_uses *u, const struct moment *now,
		      char ***ret_returned, struct fault *f) _must_check_;

/* A grant in the directory, and everything that is known of it. */
struct grant_item {
	struct grant_found found;
	struct grant_uses uses;
	const struct approver *approver; /* NULL: nobody's */
	char **returned;		 /* dead sessions whose reservations came back */
	bool chosen;
};

struct grant_items {
	struct grant_item *items;
	size_t n;
	struct approver_list approvers;
};
void grant_items_done(struct grant_items *l);
#define _cleanup_items_ _cleanup_(grant_items_done)

/* What is asked of a grant; all but LANE may be empty. */
struct grant_judgement {
	const struct approval_store *store;
	struct moment now;
	const struct grant_query *query; /* NULL: any */
	const char *session;		 /* its reservations are no obstacle; NULL: none has any */
	bool only_reserved;		 /* by SESSION */
};

/* Statement, key, signature: what no clock and no use changes.  RET_BY: whose it is. */
enum grant_reason grant_judge_text(const struct approval_store *d, const struct grant *g,
				   const struct approver_list *l, const struct approver **ret_by);
/* Whatever else holds: is it over?  Needs the uses of exactly this statement, and no signature. */
enum grant_reason grant_judge_over(const struct grant_judgement *j, const struct grant_item *item);
/* All of it.  Pure. */
enum grant_reason grant_judge(const struct grant_judgement *j, const struct grant_item *item);
bool grant_is_self(const struct approval_store *d, const struct grant *g, const struct approver *by,
		   const struct grant_query *q);
uint64_t grant_uses_allowed(const struct approval_store *d, const struct grant *g);
uint64_t grant_end_us(const struct approval_store *d, const struct grant *g); /* not_after, or the cap */

/* Reads and judges every grant of the directory (DIGEST: of that subject only).  Under the lock, or without writing. */
int grant_items_load(const struct grant_judgement *j, int dirfd, const struct digest *digest,
		     struct grant_items *ret, struct fault *f) _must_check_;
/* Marks the grants that together are an approval, and sums up. */
void grant_items_choose(const struct approval_store *d, struct grant_items *l, enum grant_reason *ret_reason);
void grant_items_choose_reserved(const struct approval_store *d, struct grant_items *l, const char *session,
				 enum grant_reason *ret_reason);
/* Moves what callers see into RET, chosen ones first. */
int grant_items_take(const struct approval_store *d, struct grant_items *l, enum grant_reason reason,
		     struct grant_set *ret, struct fault *f) _must_check_;

int grant_seal(struct grant *g, const struct sign_secret *key, struct fault *f) _must_check_;
bool grant_signature_verify(const struct grant *g, const struct sign_public *key);
void grant_file_name(const struct grant *g, char name[GRANT_FILE_SIZE]);
struct jdoc *grant_details(const struct grant *g);
