/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "state/dirs.h"

/*
 * From a state tree without lanes (version 0) to one with lanes: docs/design/lanes.md has both layouts.  A plan is made
 * by reading alone.  Applying it moves each item with one rename that replaces nothing, so that being killed anywhere
 * leaves every item in one place, whole, and the next plan goes on from there.
 */
enum migrate_action {
	MIGRATE_MOVE,	  /* file or directory */
	MIGRATE_POINT,	  /* `current` pointer: its text names the new place */
	MIGRATE_LEAVE,	  /* nothing says which lane it belongs to */
	MIGRATE_CONFLICT, /* two things say something else */
	_MIGRATE_ACTION_MAX,
};

struct migrate_item {
	enum migrate_action action;
	enum lane lane;
	char *from; /* below the tree: "sessions/test_a" */
	char *to;   /* below the tree: "sandbox/sessions/a"; NULL when it stays */
	char *text; /* of a pointer, as it will be */
	char *why;  /* it stays, with what helps */
	bool directory;
	bool done;
};

struct migrate_plan {
	char *dir;
	int dirfd; /* locked: one migration at a time */
	struct migrate_item *items;
	size_t n;
};

/* Reads only.  -ENOENT when DIR is not there, -EBUSY when another migration of it runs. */
int migrate_plan(const char *dir, struct migrate_plan *ret, struct fault *f) _must_check_;
void migrate_done(struct migrate_plan *p);
#define _cleanup_migrate_ _cleanup_(migrate_done)

/*
 * Does what the plan says; the lanes' states lie in the tree.  What turned into a conflict meanwhile becomes one in the plan and stays where it is.  A record of it stands in each lane's ledger before the first move.
 */
int migrate_apply(struct migrate_plan *p, struct fault *f) _must_check_;

size_t migrate_count(const struct migrate_plan *p, enum migrate_action action);
struct jdoc *migrate_describe(const struct migrate_plan *p, bool applied);
const char *migrate_action_name(enum migrate_action action);
