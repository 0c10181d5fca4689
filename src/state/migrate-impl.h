/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/migrate.h"

/* Shared by the two parts of a plan: entries in migrate-plan.c, pointers in migrate-pointer.c. */
#define MIGRATE_POINTER_MAX 8192 /* bytes of a pointer's file */

/*
 * Adds an item that is not moved; PARENT NULL: directly in the tree. RET borrowed until the next one is
 * added.
 */
int migrate_add(struct migrate_plan *p, const char *parent, const char *name, struct migrate_item **ret,
		struct fault *f) _must_check_;
/* Marks it as not moved, with the reason. */
int migrate_explain(struct migrate_item *i, enum migrate_action action, struct fault *f, const char *fmt, ...)
	_printf_(4, 5) _must_check_;
int migrate_set_target(struct migrate_item *i, enum lane lane, const char *kind, const char *name,
		       struct fault *f) _must_check_;
/* Marks it as moved, unless its target exists. */
int migrate_settle(struct migrate_plan *p, struct migrate_item *i, enum migrate_action action,
		   struct fault *f) _must_check_;
bool migrate_is_taken(const struct migrate_plan *p, const char *path);

/* The pointer NAME of the tree itself; all entries are planned. */
int migrate_plan_pointer(struct migrate_plan *p, const char *name, struct fault *f) _must_check_;
