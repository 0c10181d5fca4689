/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "approval/approval-obtain.h"

/* Inside the approval files only. */

/* Tries what is there: RET->state is GRANTED when it was enough, else unchanged, and RET->grants says why. */
int approval_reserve(const struct approval_ask *ask, struct approval *ret, struct fault *f) _must_check_;
int approval_file(const struct approval_ask *ask, struct request *ret, struct fault *f) _must_check_;
int approval_set_denied(const struct approval_ask *ask, const struct request *rq, struct approval *ret,
			struct fault *f) _must_check_;

/* Until it is granted, denied, gone, too late or interrupted.  RET->text, which tells how to approve, is said first. */
int approval_wait(const struct approval_ask *ask, struct approval *ret, struct fault *f) _must_check_;
