/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/migrate.h"

/* What the halves of a plan share: entries in migrate-plan.c, pointers in migrate-pointer.c. */
#define MIGRATE_POINTER_MAX 8192 /* bytes of a pointer's file */

/* A new item that stays; PARENT NULL: it lies in the tree itself.  RET borrowed until the next one is added. */
int migrate_add(struct migrate_plan *p, const char *parent, const char *name, struct migrate_item **ret,
		struct fault *f) _must_check_;
/* It stays, and why. */
int migrate_explain(struct migrate_item *i, enum migrate_action action, struct fault *f, const char *fmt, ...)
	_printf_(4, 5) _must_check_;
int migrate_set_target(struct migrate_item *i, enum lane lane, const char *kind, const char *name,
		       struct fault *f) _must_check_;
/* It goes, unless its target is there already. */
int migrate_settle(struct migrate_plan *p, struct migrate_item *i, enum migrate_action action,
		   struct fault *f) _must_check_;
bool migrate_is_taken(const struct migrate_plan *p, const char *path);

/* The pointer NAME of the tree itself; all entries are planned. */
int migrate_plan_pointer(struct migrate_plan *p, const char *name, struct fault *f) _must_check_;
