/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/clock.h"
#include "ledger/ledger-session.h"

/*
 * A session with an intent and no recorded end: STATE/open/ID, created before the intent is written, locked
 * while the session's supervisor lives, removed when its end is on the disk. An unlocked claim belongs to a
 * dead supervisor; the process that finds it records the end, once. The file holds the number of records at
 * its creation, which bounds the search; it is trusted for nothing else.
 */
#define CLAIM_DIR "open"

struct claim {
	int dirfd, fd;
	char session[SESSION_ID_SIZE];
};
#define CLAIM_NONE ((struct claim){ .dirfd = -EBADF, .fd = -EBADF })

int claim_take(const char *state, struct ledger *l, const char *session, struct claim *ret,
	       struct fault *f) _must_check_;
void claim_drop(struct claim *c); /* its end is recorded */
void claim_done(struct claim *c); /* memory and lock only: a missing end is left to the next sweep */
#define _cleanup_claim_ _cleanup_(claim_done)

/*
 * The end to record; BEFORE, which may be NULL, is called once this process holds the claim, and may add to
 * it. STARTED: the ledger has a start record. A start is not synced, so after a power loss it may be missing.
 */
struct claim_end {
	struct ledger_end *end;
	void (*before)(void *arg, const struct ledger_run *names, bool started, struct ledger_end *end);
	void *arg;
};

/*
 * The claim of SESSION, if its holder is dead: the end is recorded unless the ledger has an end already, with
 * the names that the intent gave, and the claim is removed. 1: recorded; 0: alive, missing, or already ended.
 */
int claim_close(const char *state, struct ledger *l, const char *session, const struct claim_end *how,
		struct fault *f) _must_check_;

/* Names of all sessions with a claim, dead or alive; heap, NULL if no claim exists. */
int claim_list(const char *state, char ***ret, struct fault *f) _must_check_;
