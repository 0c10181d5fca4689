/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/evidence-store.h"

struct evidence_rules {
	uint64_t retention_days; /* 0: evidence is removed at once */
	uint64_t quota;		 /* bytes of all evidence; 0: no limit */
	uint64_t keep_free;	 /* free bytes that the file system must have; 0: no limit */
	uint64_t now_us;
	bool set_older; /* by hand: also entries older than OLDER_S, whatever the profile says; 0: everything */
	uint64_t older_s;
	const char *keep; /* a name that is not pruned: just captured.  NULL: none */
};

enum evidence_verdict {
	EVIDENCE_STAYS,
	EVIDENCE_TOO_OLD,
	EVIDENCE_OVER_QUOTA,
	EVIDENCE_DISK_FULL,
	EVIDENCE_BY_HAND,
};

/*
 * Which items to remove: first the oldest of the agent with most bytes, never pinned ones.  Pure: FREE_BYTES of the
 * file system are given; VERDICTS has one element per item.
 */
void evidence_retention_decide(const struct evidence_list *l, const struct evidence_rules *r,
			       uint64_t free_bytes, enum evidence_verdict *verdicts);
