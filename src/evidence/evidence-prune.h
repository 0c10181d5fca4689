/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "evidence/evidence-store.h"

struct evidence_prune {
	const struct dirs *dirs;
	const struct config *config;
	const char *store;
	const char *keep; /* just captured; NULL: none */
	uint64_t need;	  /* bytes to free in addition to keep_free of the configuration; 0: none */
	bool set_older;	  /* by hand: also entries older than OLDER_S; 0: everything that is not pinned */
	uint64_t older_s;
	bool dry_run;
	void (*told)(void *arg, const struct evidence_item *e, const char *why); /* may be NULL */
	void *arg;
};

/* Removes evidence according to the retention of the configuration; one record each. */
int evidence_prune(const struct evidence_prune *p, struct fault *f) _must_check_;
/* The same for the store that holds PATH, which was just captured and stays. */
int evidence_prune_beside(const struct dirs *d, const struct config *c, const char *path,
			  struct fault *f) _must_check_;
