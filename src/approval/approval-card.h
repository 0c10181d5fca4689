/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/json.h"
#include "tty/card.h"

/*
 * Content of the card; all borrowed.  Only DIGEST, LANE and LEVEL are required: missing values are shown as
 * unknown.
 */
struct approval_card_facts {
	const char *digest; /* "sha256:..." */
	const char *lane;
	char level;
	const char *command; /* for a card without a subject */
	const char *agent;
	char *const *askers;	    /* "UID:NAME" */
	uint64_t count;		    /* number of requests; 0: the first, not shown */
	const struct jdoc *subject; /* subject/subject-json.h */
	const struct jdoc *verdict; /* policy/policy.h */
	const struct jdoc *last;    /* subject of the last approval of a similar request; NULL: none */
	const char *denied_by, *denied_reason; /* NULL: not denied */
	unsigned int approvals, needed;
	uint64_t uses, for_s;	     /* terms of the grant that a yes would sign */
	const char *fleet;	     /* NULL: for the ledger that asks */
	const struct jdoc *standing; /* parts of a standing approval; NULL: FOR_S and USES say all */
	size_t fleet_size;
};

void approval_card_describe(struct card *c, const struct approval_card_facts *k);
