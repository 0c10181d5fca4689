/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "setup/setup-record.h"

/*
 * `custody setup USER`: everything that root must change so that the runs of an ordinary user have every layer.  Plan, then
 * apply or undo; the plan reads the host and changes nothing but the directory of the records, and with DRY_RUN not even that.
 * docs/design/setup.md.
 */
struct setup_plan {
	int dir; /* of the records, locked; -ENOENT: none, and nothing may be written */
	struct setup_user user;
	const char *program; /* absolute path of custody; borrowed */
	struct setup_record record;
	struct setup_list changes; /* needed here, in their order; `done`: made already, by setup */
	char **notes;		   /* for people */
};
#define SETUP_PLAN_NONE ((struct setup_plan){ .dir = -EBADF })

/* USER is copied. */
int setup_plan_make(const struct setup_user *user, const char *base, const char *program, bool dry_run,
		    struct setup_plan *ret, struct fault *f) _must_check_;
int setup_apply(struct setup_plan *p, struct fault *f) _must_check_;

/* For a removal: the record alone.  */
int setup_plan_load(const struct setup_user *user, const char *base, bool dry_run, struct setup_plan *ret,
		    struct fault *f) _must_check_;
/* RET_LEFT: a line for each change that could not be undone; those stay in the record. */
int setup_undo(struct setup_plan *p, char ***ret_left, struct fault *f) _must_check_;
/* 1: another user's setup needs C too, so that it stays. */
int setup_is_shared(const struct setup_plan *p, const struct setup_change *c, struct fault *f) _must_check_;
void setup_plan_done(struct setup_plan *p);
#define _cleanup_setup_plan_ _cleanup_(setup_plan_done)

/* Files after which another program must be told. */
#define SETUP_UNIT_DIR "/etc/systemd/system"
#define SETUP_APPARMOR_FILE "/etc/apparmor.d/custody-setup"
