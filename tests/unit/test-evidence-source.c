/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/array.h"
#include "base/str.h"
#include "evidence/evidence-source.h"

#include "tap.h"

#define TREE 10
#define UPPER 11

static struct evidence_source choose(enum evidence_scope scope, enum profile_workspace w, int tree, int upper)
{
	return evidence_source_choose(scope, w, tree, upper, "reason");
}

static void scope_all_reads_the_tree(void)
{
	static const enum profile_workspace w[] = { PROFILE_WORKSPACE_OVERLAY, PROFILE_WORKSPACE_RO,
						    PROFILE_WORKSPACE_RW, PROFILE_WORKSPACE_TMPFS };

	for (size_t i = 0; i < ARRAY_SIZE(w); i++) {
		const struct evidence_source s = choose(EVIDENCE_SCOPE_ALL, w[i], TREE, UPPER);

		CHECK(s.fd == TREE && !s.upper);
	}
}

static void a_missing_tree_has_the_callers_reason(void)
{
	const struct evidence_source s = choose(EVIDENCE_SCOPE_ALL, PROFILE_WORKSPACE_OVERLAY, -EBADF, UPPER);

	CHECK(s.fd == -EBADF && !s.upper && str_eq(s.missing, "reason"));
}

static void changes_of_an_overlay_are_its_upper(void)
{
	struct evidence_source s = choose(EVIDENCE_SCOPE_CHANGES, PROFILE_WORKSPACE_OVERLAY, TREE, UPPER);

	CHECK(s.fd == UPPER && s.upper);
	s = choose(EVIDENCE_SCOPE_CHANGES, PROFILE_WORKSPACE_OVERLAY, TREE, -EBADF);
	CHECK(s.fd == TREE && !s.upper);
	s = choose(EVIDENCE_SCOPE_CHANGES, PROFILE_WORKSPACE_OVERLAY, -EBADF, -EBADF);
	CHECK(s.fd == -EBADF && s.upper && str_eq(s.missing, "reason"));
}

static void changes_of_a_tmpfs_are_all_of_it(void)
{
	const struct evidence_source s =
		choose(EVIDENCE_SCOPE_CHANGES, PROFILE_WORKSPACE_TMPFS, TREE, -EBADF);

	CHECK(s.fd == TREE && !s.upper);
}

static void a_worktree_of_the_host_is_not_copied_for_its_changes(void)
{
	struct evidence_source s = choose(EVIDENCE_SCOPE_CHANGES, PROFILE_WORKSPACE_RO, TREE, -EBADF);

	CHECK(s.fd == -EBADF && !s.upper && !str_eq(s.missing, "reason"));
	s = choose(EVIDENCE_SCOPE_CHANGES, PROFILE_WORKSPACE_RW, TREE, -EBADF);
	CHECK(s.fd == -EBADF && !s.upper && !str_eq(s.missing, "reason"));
}

TAP_MAIN(T(scope_all_reads_the_tree), T(a_missing_tree_has_the_callers_reason),
	 T(changes_of_an_overlay_are_its_upper), T(changes_of_a_tmpfs_are_all_of_it),
	 T(a_worktree_of_the_host_is_not_copied_for_its_changes))
