/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "state/dirs.h"
#include "container/container-info.h"
#include "evidence/evidence.h"
#include "ledger/ledger-session.h"

/*
 * Evidence of a container that another runtime ran, in the shape of custody's own runs; what nobody could see under that
 * runtime (its output) is named absent.  Taken by custody-warden, which holds the tree; after its death by whoever
 * finds the session.
 */
struct container_case {
	const struct dirs *dirs;
	const struct config *config;
	const struct container_info *info;
	const char *session;
	const struct ledger_end *end;
	uint64_t started_us; /* 0: nobody saw it */
	uint64_t wall_ms;
	int tree;  /* the worktree as the container saw it, or -EBADF */
	int upper; /* the layer of its changes, or -EBADF */
	bool all;  /* the whole tree; else the changes */
	/* Why TREE is missing; NULL: it was there. */
	const char *why;
};

int container_evidence_take(const struct container_case *c, struct evidence_taken *ret,
			    struct fault *f) _must_check_;
