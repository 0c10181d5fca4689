/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/clock.h"
#include "ledger/ledger-session.h"

/*
 * Who has said what it wants and not yet how it ended: STATE/open/ID, made before the intent is written, locked as
 * long as the session's supervisor lives, removed when its end is on the disk.  One that nobody holds is the claim of
 * a dead supervisor; whoever finds it tells the end, once.  The file holds the number of records when it was made,
 * so that nobody has to look further back; it is never believed for anything else.
 */
#define CLAIM_DIR "open"

struct claim {
	int dirfd, fd;
	char session[SESSION_ID_SIZE];
};
#define CLAIM_NONE ((struct claim){ .dirfd = -EBADF, .fd = -EBADF })

int claim_take(const char *state, struct ledger *l, const char *session, struct claim *ret,
	       struct fault *f) _must_check_;
void claim_drop(struct claim *c); /* its story is told */
void claim_done(struct claim *c); /* memory and lock only: what is not told is left to the next sweep */
#define _cleanup_claim_ _cleanup_(claim_done)

/*
 * How it ended; BEFORE, which may be NULL, is called once nobody else can tell the end, and may add to it.  STARTED: the
 * ledger says that its payload was to be released.  A start is not synced, so after a power loss it may be missing.
 */
struct claim_end {
	struct ledger_end *end;
	void (*before)(void *arg, const struct ledger_run *names, bool started, struct ledger_end *end);
	void *arg;
};

/*
 * The claim of SESSION, if its holder is dead: the end is recorded unless the ledger has an end already, with the names
 * that the intent gave, and the claim goes.  1: recorded; 0: alive, not there, or nothing to tell.
 */
int claim_close(const char *state, struct ledger *l, const char *session, const struct claim_end *story,
		struct fault *f) _must_check_;

/* Names of the sessions that have one, dead or alive; heap, NULL when there is none. */
int claim_list(const char *state, char ***ret, struct fault *f) _must_check_;
