/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/home-dir.h"

/* All kept homes of the lane. */

/* Their IDs, sorted; NULL: no home exists. */
int home_list(const struct dirs *d, char ***ret, struct fault *f) _must_check_;

struct home_prune {
	const struct dirs *dirs;
	uint64_t older_s; /* since the last start of a run; 0: any age */
	bool dry_run;
	void (*told)(void *arg, const char *id, const char *why, uint64_t bytes);
	void *arg;
};

/* Removes homes that no session uses, each with a record `home.expire`; without one it stays. */
int home_prune(const struct home_prune *p, struct fault *f) _must_check_;
