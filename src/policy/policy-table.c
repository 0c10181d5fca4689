/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy/policy.h"

#define P REVIEW_PASS
#define L REVIEW_LOG
#define C REVIEW_CONFIRM
#define X REVIEW_PIN

/*
 * The whole of step 5. Columns are domains, worst first: system, untrusted, trusted, localhost, workspace.
 * Intention matters only for irreversible outcomes.
 */
/* clang-format off */
static const enum review table[_SECURITY_MAX][_OUTCOME_MAX][_INTENTION_MAX][_DOMAIN_MAX] = {
	[SECURITY_STRICT] = {
		[OUTCOME_IRREVERSIBLE] = {
			[INTENTION_AUTONOMOUS] = { X, X, X, X, X },
			[INTENTION_TASK]       = { X, X, C, C, C },
			[INTENTION_EXPLICIT]   = { X, X, C, C, C },
		},
		[OUTCOME_SOFT] = {
			[INTENTION_AUTONOMOUS] = { C, C, C, C, C },
			[INTENTION_TASK]       = { C, C, C, C, C },
			[INTENTION_EXPLICIT]   = { C, C, C, C, C },
		},
		[OUTCOME_REVERSIBLE] = {
			[INTENTION_AUTONOMOUS] = { C, C, L, L, P },
			[INTENTION_TASK]       = { C, C, L, L, P },
			[INTENTION_EXPLICIT]   = { C, C, L, L, P },
		},
	},
	[SECURITY_BALANCED] = {
		[OUTCOME_IRREVERSIBLE] = {
			[INTENTION_AUTONOMOUS] = { X, X, X, X, X },
			[INTENTION_TASK]       = { X, X, C, C, C },
			[INTENTION_EXPLICIT]   = { X, X, C, C, C },
		},
		[OUTCOME_SOFT] = {
			[INTENTION_AUTONOMOUS] = { C, C, C, C, C },
			[INTENTION_TASK]       = { C, C, C, C, C },
			[INTENTION_EXPLICIT]   = { C, C, C, C, C },
		},
		[OUTCOME_REVERSIBLE] = {
			[INTENTION_AUTONOMOUS] = { C, L, P, P, P },
			[INTENTION_TASK]       = { C, L, P, P, P },
			[INTENTION_EXPLICIT]   = { C, L, P, P, P },
		},
	},
	[SECURITY_MINIMAL] = {
		[OUTCOME_IRREVERSIBLE] = {
			[INTENTION_AUTONOMOUS] = { X, X, X, X, X },
			[INTENTION_TASK]       = { X, P, P, P, P },
			[INTENTION_EXPLICIT]   = { X, P, P, P, P },
		},
		[OUTCOME_SOFT] = {
			[INTENTION_AUTONOMOUS] = { C, P, P, P, P },
			[INTENTION_TASK]       = { C, P, P, P, P },
			[INTENTION_EXPLICIT]   = { C, P, P, P, P },
		},
		[OUTCOME_REVERSIBLE] = {
			[INTENTION_AUTONOMOUS] = { C, P, P, P, P },
			[INTENTION_TASK]       = { C, P, P, P, P },
			[INTENTION_EXPLICIT]   = { C, P, P, P, P },
		},
	},
	[SECURITY_OFF] = {
		[OUTCOME_IRREVERSIBLE] = {
			[INTENTION_AUTONOMOUS] = { P, P, P, P, P },
			[INTENTION_TASK]       = { P, P, P, P, P },
			[INTENTION_EXPLICIT]   = { P, P, P, P, P },
		},
		[OUTCOME_SOFT] = {
			[INTENTION_AUTONOMOUS] = { P, P, P, P, P },
			[INTENTION_TASK]       = { P, P, P, P, P },
			[INTENTION_EXPLICIT]   = { P, P, P, P, P },
		},
		[OUTCOME_REVERSIBLE] = {
			[INTENTION_AUTONOMOUS] = { P, P, P, P, P },
			[INTENTION_TASK]       = { P, P, P, P, P },
			[INTENTION_EXPLICIT]   = { P, P, P, P, P },
		},
	},
};
/* clang-format on */

/* The one cell that depends on confinement: changes in a worktree that is discarded with the sandbox. */
static bool is_discarded(enum security_profile p, enum outcome o, enum domain d)
{
	return p == SECURITY_BALANCED && o == OUTCOME_SOFT && d == DOMAIN_WORKSPACE;
}

enum review policy_table_review(enum security_profile p, enum outcome o, enum intention i, enum domain d,
				bool ephemeral)
{
	/* A value outside the enums: the strictest cell. */
	if ((unsigned int)p >= _SECURITY_MAX || (unsigned int)o >= _OUTCOME_MAX ||
	    (unsigned int)i >= _INTENTION_MAX || (unsigned int)d >= _DOMAIN_MAX)
		return REVIEW_PIN;
	return ephemeral && is_discarded(p, o, d) ? REVIEW_LOG : table[p][o][i][d];
}
