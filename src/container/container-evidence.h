/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "container/container-info.h"
#include "evidence/evidence-scope.h"
#include "evidence/evidence.h"
#include "ledger/ledger-session.h"
#include "state/dirs.h"

/*
 * Evidence of a container of another runtime, in the form of custody's own runs; files that custody cannot capture
 * under that runtime (the output) are listed as absent. Captured by custody-warden, which holds a descriptor of the
 * tree, or, if that died, by the process that recovers the session.
 */
struct container_case {
	const struct dirs *dirs;
	const struct config *config;
	const struct container_info *info;
	const char *session;
	const struct ledger_end *end;
	uint64_t started_us; /* 0: unknown */
	int tree;	     /* the worktree as the container saw it, or -EBADF */
	int upper;	     /* of its overlay, or -EBADF */
	enum evidence_scope scope;
	const char *why; /* TREE is -EBADF: the reason */
};

/* config.json of a bundle as evidence has it: container_info has no secrets of the command. */
int container_evidence_hide(const char *config, size_t len, const struct jdoc *subject, struct strbuf *out,
			    struct fault *f) _must_check_;
int container_evidence_capture(const struct container_case *c, struct evidence_taken *ret,
			       struct fault *f) _must_check_;
