/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "review/changes.h"

/*
 * Writes reviewed changes (review-judge.h) to the base in batches: the entries of one are created under temporary names beside
 * their places, a new directory with its content; one syncfs; then each is exchanged with the old entry.  The old entry must be
 * the reviewed one, else it is exchanged back.  So a reader sees the old or the new entry, whenever apply is killed or
 * the machine stops, and a second apply does the rest.
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
	size_t files_min; /* fewest files that several threads work on; 0: as many as is best */
	size_t batch;	  /* entries that one sync is for; 0: as many as is best */
	/* Called after each applied change; may be NULL. */
	void (*applied)(void *arg, const struct change *ch);
	void *arg;
	/* Called after each entry that was written or removed, with the totals; may be NULL. */
	void (*progress)(void *arg, uint64_t entries, uint64_t bytes);
	void *progress_arg;
};

struct apply_stats {
	size_t written, deleted, modes;
};

/* Applies all that is picked and not refused.  Stops at the first failure; F names its path. */
int apply_changes(const struct changes *c, const struct apply_ask *ask, struct apply_stats *ret,
		  struct fault *f) _must_check_;

/*
 * The directory DIR of a session has a mark while its changes are applied.  One that is there otherwise: apply was killed, and
 * entries whose names begin with apply_leftovers may be in the worktree.
 */
int apply_mark(int dir, struct fault *f) _must_check_;
void apply_unmark(int dir);
bool apply_is_marked(int dir);
#define APPLY_LEFTOVER_SIZE 32
void apply_leftovers(const char *session, char name[APPLY_LEFTOVER_SIZE]);
