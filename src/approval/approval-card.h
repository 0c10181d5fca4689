/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "tty/card.h"

/* What the card is about; all borrowed.  Only DIGEST, LANE and LEVEL must be there: what is missing is said to be so. */
struct approval_card_facts {
	const char *digest; /* "sha256:..." */
	const char *lane;
	char level;
	const char *command; /* for a card without a subject */
	const char *agent;
	char *const *askers;	    /* "UID:NAME" */
	uint64_t count;		    /* how often it was asked; 0: a first time, not said */
	const struct jdoc *subject; /* subject/subject-json.h */
	const struct jdoc *verdict; /* policy/policy.h */
	const struct jdoc *last;    /* subject of the last approval of something alike; NULL: none */
	const char *denied_by, *denied_reason; /* NULL: not denied */
	unsigned int approvals, needed;
	uint64_t uses, for_s; /* what a yes would grant */
};

void approval_card_describe(struct card *c, const struct approval_card_facts *k);
