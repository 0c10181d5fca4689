/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "ledger/ledger-session.h"
#include "state/dirs.h"
#include "state/lane.h"

/*
 * From a state tree without lanes (version 0) to one with lanes: docs/design/lanes.md has both layouts.
 * Planning only reads. Applying moves each item with one rename that never replaces a file, so that after a
 * kill at any point every item is complete in one place, and the next plan continues from there.
 */
enum migrate_action {
	MIGRATE_MOVE,	  /* file or directory */
	MIGRATE_POINT,	  /* `current` pointer: rewritten with the new path */
	MIGRATE_LEAVE,	  /* its lane is not known */
	MIGRATE_CONFLICT, /* its name and its stamp disagree */
	_MIGRATE_ACTION_MAX,
};

struct migrate_item {
	enum migrate_action action;
	enum lane lane;
	char *from; /* below the tree: "sessions/test_a" */
	char *to;   /* below the tree: "sandbox/sessions/a"; NULL if it is not moved */
	char *text; /* new text of a pointer */
	char *why;  /* why it is not moved, and the fix */
	bool directory;
	bool done;
};

struct migrate_plan {
	char *dir;
	int dirfd; /* locked: one migration at a time */
	struct migrate_item *items;
	size_t n;
};

/* Reads only. -ENOENT if DIR is missing, -EBUSY if another migration of it runs. */
int migrate_plan(const char *dir, struct migrate_plan *ret, struct fault *f) _must_check_;
void migrate_done(struct migrate_plan *p);
#define _cleanup_migrate_ _cleanup_(migrate_done)

/* Does the plan move anything into LANE? */
bool migrate_has_work(const struct migrate_plan *p, enum lane lane);

/*
 * Applies the plan; the lanes' states are in the tree.  PROD is the pass of lane prod; without it a plan that moves
 * something there is refused as a whole.  Its override is recorded with RUN. An item that has become a conflict since planning is
 * marked so and not moved. The plan is recorded in each lane's ledger before the first move.
 */
int migrate_apply(struct migrate_plan *p, struct lane_pass *prod, const struct ledger_run *run,
		  struct fault *f) _must_check_;

size_t migrate_count(const struct migrate_plan *p, enum migrate_action action);
struct jdoc *migrate_describe(const struct migrate_plan *p, bool applied);
const char *migrate_action_name(enum migrate_action action);
