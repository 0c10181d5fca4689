/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "session/session-upper.h"

/* Removes the upper of the session DIRFD and updates its note. */
int review_drop(int dirfd, struct fault *f) _must_check_;

/* Removes uppers that expired by the configuration, each with a ledger record.  The session KEEP is kept; NULL: none. */
int review_prune(const struct dirs *d, const struct config *c, const char *keep,
		 struct fault *f) _must_check_;
/* The same, at most once an hour; called at every start. */
int review_prune_hourly(const struct dirs *d, const struct config *c, const char *keep,
			struct fault *f) _must_check_;
