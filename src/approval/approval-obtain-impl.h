/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-obtain.h"

/* Inside the approval files only. */

/*
 * Reserves existing grants: RET->state is GRANTED when they suffice, else unchanged, and RET->grants has the
 * reason.
 */
int approval_reserve(const struct approval_ask *ask, struct approval *ret, struct fault *f) _must_check_;
int approval_file(const struct approval_ask *ask, struct request *ret, struct fault *f) _must_check_;
int approval_set_denied(const struct approval_ask *ask, const struct request *rq, struct approval *ret,
			struct fault *f) _must_check_;

/*
 * Waits until the request is granted, denied, removed, expired or interrupted.  Prints RET->text, which has
 * the command to approve, first.
 */
int approval_wait(const struct approval_ask *ask, struct approval *ret, struct fault *f) _must_check_;
