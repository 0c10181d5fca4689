/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "review/changes.h"

/*
 * Changes that were judged (review.h), brought into the base.  One entry at a time: made under a name of our own beside its
 * place, synced, and exchanged with what is there; what comes out of the exchange must be what was judged, else it goes
 * back.  So everybody sees the old or the new, whenever we die, and a second apply does the rest.
 *
 * MUST NOT: follow a link, use a path of more than one name, chown or chmod by name, touch an inode that has another name.
 */
struct apply_ask {
	int upper, base;     /* BASE can be synced: not O_PATH */
	const char *session; /* names our own files */
	bool as_root;	     /* owners are set */
	/* After each change that was brought; may be NULL. */
	void (*told)(void *arg, const struct change *ch);
	void *arg;
};

struct apply_stats {
	size_t written, deleted, modes;
};

/* All that is picked and not refused.  Stops at the first that cannot be brought; F names it. */
int apply_changes(const struct changes *c, const struct apply_ask *ask, struct apply_stats *ret,
		  struct fault *f) _must_check_;
