/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/sign.h"
#include "ledger/ledger.h"

/*
 * The store of a lane: where its requests, grants and keys lie, who may approve, and what time it is.  Everything about
 * approval is asked here.  docs/design/approval.md has the files, the order of writes and the attacks.
 */

/* An approver as the admin's custody.json names one.  Keys: "ed25519:" and 64 hex digits. */
struct approver_entry {
	const char *name;
	const char *key;     /* level B; NULL: none */
	const char *pin_key; /* level C; NULL: none */
	const char *lane;    /* counts there only; NULL: everywhere */
	uid_t uid;	     /* whose it is on this host, for `allow_self`; APPROVER_NO_UID: not known */
};
#define APPROVER_NO_UID ((uid_t)-1)

/* What the configuration says of approval; zero means the default, and each default is the strict one. */
struct approval_rules {
	const struct approver_entry *approvers;
	size_t n_approvers;
	bool configured; /* `approvers` is there: it alone counts, also when it is empty */
	bool narrowed;	 /* ... and it is a profile's choice of them: a request says so to who approves */
	bool allow_self; /* may who asks, or who starts it, be the one who approves? */
	unsigned int min_approvals; /* 0: 1 */
	uint64_t request_expiry_s;  /* 0: APPROVAL_REQUEST_EXPIRY_S */
	uint64_t grant_max_s;	    /* cap on a grant's time; 0: APPROVAL_GRANT_MAX_S */
	uint64_t grant_max_uses;    /* cap on its uses; 0: APPROVAL_GRANT_MAX_USES */
	unsigned int requests_max;  /* open ones; 0: APPROVAL_REQUESTS_MAX */
};
#define APPROVAL_REQUEST_EXPIRY_S ((uint64_t)24 * 3600)
#define APPROVAL_GRANT_S ((uint64_t)3600) /* for a caller who was not told how long */
#define APPROVAL_GRANT_MAX_S ((uint64_t)30 * 24 * 3600)
#define APPROVAL_GRANT_MAX_USES ((uint64_t)1000)
#define APPROVAL_REQUESTS_MAX 256u

/* Both clocks at one time. */
struct moment {
	uint64_t wall_us, boot_ns;
	char boot[9];
};

struct approval_store {
	char *state;			    /* of the lane */
	char lane[16];			    /* "sandbox", "prod" */
	const struct approval_rules *rules; /* borrowed */
	struct ledger *ledger;		    /* borrowed; NULL: only what writes nothing can be asked */
	int dirfd;			    /* STATE */
	uid_t login; /* who logged in, however he became this uid (sudo, su); APPROVER_NO_UID: the kernel does not know */
	const char *agent,
		*worker; /* on whose behalf, for the records; borrowed; NULL: not known, or a person's own */
	/* For tests only. */
	const struct moment *now; /* NULL: the clocks */
	unsigned int pin_cost;	  /* of yescrypt; 0: PIN_COST */
};

/*
 * STATE is dirs.state of LANE and must belong to the caller alone.  It is made if it is missing; RULES may be NULL.
 * Nothing else is written here.
 */
int approval_store_open(const char *state, const char *lane, const struct approval_rules *rules,
			struct ledger *ledger, struct approval_store *ret, struct fault *f) _must_check_;
void approval_store_done(struct approval_store *d);
#define _cleanup_approval_store_ _cleanup_(approval_store_done)

/*
 * An inotify descriptor (non-blocking) that becomes readable when a request is decided or a grant arrives, for
 * `--wait`.  Watch first, ask second, then poll: what comes in between is not missed.  approval_store_watch_drain empties it.
 */
int approval_store_watch(const struct approval_store *d, struct fault *f) _must_check_;
void approval_store_watch_drain(int fd);

int approval_store_now(const struct approval_store *d, struct moment *ret, struct fault *f) _must_check_;
