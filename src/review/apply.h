/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"
#include "review/changes.h"

/*
 * Writes reviewed changes (review-judge.h) to the base, one entry at a time: created under a temporary name beside its place,
 * synced, and exchanged with the old entry.  The old entry must be the reviewed one, else it is exchanged back.  So a reader
 * sees the old or the new entry, whenever apply is killed, and a second apply does the rest.
 *
 * MUST NOT: follow a link, use a path of more than one name, chown or chmod by name, touch an inode that has another name.
 */
struct apply_ask {
	int upper, base;     /* BASE is synced: not O_PATH */
	const char *session; /* part of the temporary names */
	bool as_root;	     /* set the owners */
	/*
	 * As root in a tree of OWNER: no directory of another user is given away or emptied, because a process of OWNER can
	 * exchange the names in its directories while we work.
	 */
	bool has_owner;
	uid_t owner;
	/* Called after each applied change; may be NULL. */
	void (*applied)(void *arg, const struct change *ch);
	void *arg;
};

struct apply_stats {
	size_t written, deleted, modes;
};

/* Applies all that is picked and not refused.  Stops at the first failure; F names its path. */
int apply_changes(const struct changes *c, const struct apply_ask *ask, struct apply_stats *ret,
		  struct fault *f) _must_check_;
