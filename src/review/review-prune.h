/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "session/session-upper.h"

/* Removes the upper of the session DIRFD and updates its note. */
int review_drop(int dirfd, struct fault *f) _must_check_;
/* The same without waiting for the removal: it takes as long as creating the files did. */
int review_drop_later(int dirfd, struct fault *f) _must_check_;

struct review_prune {
	const struct dirs *dirs;
	const struct config *config;
	const char *keep; /* a session that is kept; NULL: none */
	bool set_older;	  /* by hand: also entries older than OLDER_S; 0: everything */
	uint64_t older_s;
	bool dry_run;
	void (*told)(void *arg, const struct session_upper *k, const char *why); /* may be NULL */
	void *arg;
	size_t *held; /* number of uppers that stay because sessions continue them; may be NULL */
};

/* Removes uppers that expired by the configuration, each with a ledger record. */
int review_prune(const struct review_prune *p, struct fault *f) _must_check_;
/* The same, at most once an hour; called at every start. */
int review_prune_hourly(const struct dirs *d, const struct config *c, const char *keep,
			struct fault *f) _must_check_;
