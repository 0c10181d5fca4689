/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"

/*
 * Records of actions on the files of a session: evidence.pin, evidence.deliver, review.expire ...  Each opens the ledger of
 * STATE, creates it if it is missing, and is synced when the function returns 0.  `by` of the record is USER.
 */

/* WHY: `why` of the record; NULL: none. */
int ledger_action_record(const char *state, const char *user, const char *kind, const char *session,
			 const char *why, struct fault *f) _must_check_;
/* D: details of the record, an object of the caller; gets `by`. */
int ledger_action_append(const char *state, const char *user, const char *kind, const char *session,
			 struct jdoc *d, struct fault *f) _must_check_;
