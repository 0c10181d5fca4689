/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>

#include "approval/approver.h"
#include "config/config.h"
#include "state/dirs.h"

/* The store of a lane with the rules of its configuration; CONFIG and LEDGER are borrowed. */
struct approval_lane {
	struct approval_store store;
	struct approval_rules rules;
	struct approver_entry *entries;
	struct approval_fleet *fleets;
	/* Approvers of a profile's `governance.approvers`. */
	struct approver_list approvers;
	struct approver_entry *chosen;
	char (*chosen_keys)[2][APPROVER_KEY_SIZE];
};

/* clang-format off */
#define APPROVAL_LANE_NONE { .store = { .dirfd = -EBADF } }
/* clang-format on */

/* LEDGER NULL: read-only operations only. */
int approval_lane_open(const struct dirs *d, const struct config *config, struct ledger *ledger,
		       struct approval_lane *ret, struct fault *f) _must_check_;
/* The same with the lane's ledger, created if missing; the caller frees it after the store. */
int approval_lane_open_to_write(const struct dirs *d, const struct config *config, struct ledger **ret_ledger,
				struct approval_lane *ret, struct fault *f) _must_check_;
/*
 * A profile may require more than the configuration: more approvals, fewer approvers, no self-approval.
 * GOVERNANCE is its section, NULL: none.
 */
int approval_lane_tighten(struct approval_lane *d, const struct jdoc *governance, const char *profile,
			  struct fault *f) _must_check_;
void approval_lane_done(struct approval_lane *d);
#define _cleanup_approval_lane_ _cleanup_(approval_lane_done)
