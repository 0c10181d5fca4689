/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "evidence/evidence-store.h"

struct evidence_rules {
	uint64_t retention_days; /* 0: nothing outlives its session */
	uint64_t quota;		 /* bytes of all together; 0: no limit */
	uint64_t keep_free;	 /* bytes that the file system must have left; 0: no limit */
	uint64_t now_us;
	const char *keep; /* a name that is not pruned: just taken.  NULL: none */
};

enum evidence_verdict {
	EVIDENCE_STAYS,
	EVIDENCE_TOO_OLD,
	EVIDENCE_OVER_QUOTA,
	EVIDENCE_DISK_FULL,
};

/*
 * Which go, oldest of the heaviest agent first; pinned ones never.  Pure: FREE is what the file system has now, verdicts
 * has one place per item.
 */
void evidence_retention_decide(const struct evidence_list *l, const struct evidence_rules *r,
			       uint64_t free_bytes, enum evidence_verdict *verdicts);
