/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"

/* The default profile at a terminal: an overlay, no network, nothing of the host writable. */
static const struct policy_facts policy_sandbox = {
	.cwd = "/work",
	.home = "/home/user",
	.worktree = "/work",
	.worktree_host = "/srv/project",
	.home_is_apart = true,
	.isolated = true,
	.worktree_mode = POLICY_WORKTREE_EPHEMERAL,
	.network = POLICY_NETWORK_NONE,
	.git_is_plain = true,
	.intention = INTENTION_EXPLICIT,
	.security = SECURITY_BALANCED,
};

static inline struct verdict *policy_of(struct policy_facts facts, char *const *argv)
{
	struct verdict *v = NULL;

	facts.argv = argv;
	return policy_decide(&facts, &v, NULL) < 0 ? NULL : v;
}

/* The level of one command line, given to sh -c; '!' when it could not be decided, '-' when it is denied. */
static inline char policy_level(const struct policy_facts *facts, const char *line)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)line, NULL };
	_cleanup_verdict_ struct verdict *v = policy_of(*facts, argv);

	return !v ? '!' : v->decision == DECISION_DENY ? '-' : v->level;
}

static inline bool policy_has_reason(const struct verdict *v, const char *id)
{
	for (size_t i = 0; i < v->n_reasons; i++)
		if (strcmp(v->reasons[i].id, id) == 0)
			return true;
	return false;
}

static inline FILE *policy_data(const char *name)
{
	const char *srcdir = getenv("SRCDIR");
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/tests/data/policy/%s", srcdir ? srcdir : ".", name);
	return fopen(path, "re");
}
