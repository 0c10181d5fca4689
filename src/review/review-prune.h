/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "session/session-upper.h"

/* The layer goes, and the session's note says so. */
int review_drop(const struct dirs *d, int dirfd, struct fault *f) _must_check_;

/* Removes what the configuration does not keep any longer, each with a record.  KEEP stays; NULL: nobody does. */
int review_prune(const struct dirs *d, const struct config *c, const char *keep,
		 struct fault *f) _must_check_;
/* The same, unless somebody did within the hour: for every start. */
int review_prune_hourly(const struct dirs *d, const struct config *c, const char *keep,
			struct fault *f) _must_check_;
