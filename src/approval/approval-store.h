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
 * The approval store of a lane: directory of its requests, grants and keys, the approvers and rules, and the
 * clock.  docs/design/approval.md has the files, the order of writes and the attacks.
 */

/* An approver in the admin's custody.json.  Keys: "ed25519:" and 64 hex digits. */
struct approver_entry {
	const char *name;
	const char *key;     /* level B; NULL: none */
	const char *pin_key; /* level C; NULL: none */
	const char *lane;    /* counts only there; NULL: everywhere */
	uid_t uid;	     /* owner on this host, for `allow_self`; APPROVER_NO_UID: unknown */
};
#define APPROVER_NO_UID ((uid_t)-1)

/* A fleet of the admin's custody.json: ledgers on which one grant of level B counts. */
struct approval_fleet {
	const char *name;
	char *const *ledgers; /* public keys, NULL-terminated */
};
#define APPROVAL_LEDGERS_MAX 64
#define APPROVAL_LEDGER_KEY_MAX 160 /* characters of a ledger's public key */

/* Approval settings of the configuration; zero means the default, and each default is the strict one. */
struct approval_rules {
	const struct approver_entry *approvers;
	size_t n_approvers;
	bool configured;	    /* `approvers` is present: it alone counts, even if empty */
	bool narrowed;		    /* ... and a profile chose them: requests tell the approver */
	bool allow_self;	    /* may the requester, or the user who starts it, approve? */
	unsigned int min_approvals; /* 0: 1 */
	uint64_t request_expiry_s;  /* 0: APPROVAL_REQUEST_EXPIRY_S */
	uint64_t grant_max_s;	    /* cap on a grant's time; 0: APPROVAL_GRANT_MAX_S */
	uint64_t grant_max_uses;    /* cap on its uses; 0: APPROVAL_GRANT_MAX_USES */
	const struct approval_fleet *fleets;
	size_t n_fleets;
	unsigned int requests_max; /* open ones; 0: APPROVAL_REQUESTS_MAX */
};
#define APPROVAL_REQUEST_EXPIRY_S ((uint64_t)24 * 3600)
#define APPROVAL_GRANT_S ((uint64_t)3600) /* default validity of a grant */
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
	struct ledger *ledger;		    /* borrowed; NULL: read-only operations only */
	int dirfd;			    /* STATE */
	uid_t login; /* login user, also after sudo or su; APPROVER_NO_UID: unknown to the kernel */
	const char *agent,
		*worker; /* agent and worker for the records; borrowed; NULL: unknown, or a person */
	/* For tests only. */
	const struct moment *now; /* NULL: the clocks */
	unsigned int pin_cost;	  /* of yescrypt; 0: PIN_COST */
};

/*
 * STATE is dirs.state of LANE and must belong to the caller alone.  It is created if missing; RULES may be
 * NULL.  Nothing else is written here.
 */
int approval_store_open(const char *state, const char *lane, const struct approval_rules *rules,
			struct ledger *ledger, struct approval_store *ret, struct fault *f) _must_check_;
void approval_store_done(struct approval_store *d);
#define _cleanup_approval_store_ _cleanup_(approval_store_done)

/*
 * An inotify descriptor (non-blocking) that becomes readable when a request is decided or a grant arrives,
 * for `--wait`.  Open it first, then check, then poll: no event is missed.  approval_store_watch_drain
 * empties it.
 */
int approval_store_watch(const struct approval_store *d, struct fault *f) _must_check_;
void approval_store_watch_drain(int fd);

int approval_store_now(const struct approval_store *d, struct moment *ret, struct fault *f) _must_check_;
