/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "cli/cmd-review.h"

/*
 * The question of apply, after the changes were listed and before one of them is made: deletions beyond the profile's number,
 * and files that other programs obey.  STATUS_OK: no question, or answered; STATUS_UNAPPROVED: not answered, and stderr says
 * which command line answers it.  The answer is a record before it returns.  With --dry-run it only says what apply would ask.
 */
int apply_gate(struct review_call *r, struct fault *f) _must_check_;
