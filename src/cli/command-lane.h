/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/command.h"
#include "ledger/ledger.h"

/*
 * The two keys of lane prod for commands that change its state (COMMAND_PROD).  Both are called by dispatch, before
 * the command runs; the commands of the ledger call them around their own work, because it may not be readable before.
 */

/* Refuses without both keys: nothing of prod was opened.  Sets C->pass. */
int command_lane_enter(struct command_call *c, struct fault *f) _must_check_;
/* Records the override in the ledger of the lane, synced.  L NULL: opened, and created if missing. */
int command_lane_record(struct command_call *c, struct ledger *l, struct fault *f) _must_check_;
