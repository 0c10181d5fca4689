/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-source.h"

#include <errno.h>

struct evidence_source evidence_source_choose(enum evidence_scope scope, enum profile_workspace workspace,
					      int tree, int upper, const char *missing)
{
	struct evidence_source s = { .fd = tree, .missing = missing };

	if (scope == EVIDENCE_SCOPE_ALL)
		return s;
	switch (workspace) {
	case PROFILE_WORKSPACE_OVERLAY:
		s.upper = upper >= 0 || tree < 0;
		s.fd = s.upper ? upper : tree;
		break;
	case PROFILE_WORKSPACE_TMPFS:
		break;
	case PROFILE_WORKSPACE_RO:
		s = (struct evidence_source){ .fd = -EBADF,
					      .missing = "the worktree was read-only: nothing was changed" };
		break;
	case PROFILE_WORKSPACE_RW:
		s = (struct evidence_source){
			.fd = -EBADF, .missing = "the worktree was written in place: it has the changes"
		};
		break;
	}
	return s;
}
