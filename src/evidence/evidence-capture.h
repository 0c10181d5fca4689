/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "config/config.h"
#include "evidence/evidence-scope.h"
#include "evidence/evidence.h"
#include "ledger/ledger.h"
#include "session/session-summary.h"
#include "state/dirs.h"

/*
 * One ended session and everything that its evidence is made of.  `custody run`, custody-warden and recovery fill it;
 * evidence_capture composes metadata.json from it, reads the tree and writes the evidence.  Everything is borrowed.
 */
struct evidence_case {
	const struct dirs *dirs;
	const struct config *config;
	const struct session_summary *summary;
	enum evidence_scope scope; /* not NONE */
	enum profile_workspace workspace;
	int tree;  /* the worktree as the container saw it; -EBADF: missing */
	int upper; /* of its overlay; -EBADF: missing.  O_PATH is enough: its mode may be 0 */
	/* Files of UPPER may become hard links in the evidence: struct capture_share says when. */
	bool may_share;
	const char *missing;	      /* the reason, when neither can be read */
	const char *worktree;	      /* path on the host; NULL: unknown */
	const struct jdoc *forensics; /* that section of the profile; NULL: none */
	char *const *hidden;	      /* paths below the worktree that are not read; NULL: none */
	struct capture_ids ids;
	const struct id_map *owners;	     /* as in struct evidence_request */
	const struct ledger_mark *audit_end; /* of the session's own ledger; NULL: unknown */
	struct evidence_content audit, subject, oci_config, output;
	void (*progress)(void *arg, uint64_t entries, uint64_t bytes); /* may be NULL; from any thread */
	void *progress_arg;
};

/* Writes to the store, or to STATE/staging if the store is a share or cannot be written (delivery.h). */
int evidence_capture(const struct evidence_case *c, struct evidence_taken *ret, struct fault *f) _must_check_;

/*
 * 1 and RET: a process that died before it recorded its evidence of SESSION left it complete; 0: none.  Unfinished
 * evidence without a writer is removed.
 * Staged evidence is delivered only when the claim of its session is gone: it cannot vanish concurrently.
 */
int evidence_adopt(const struct dirs *d, const struct config *c, const char *session,
		   struct evidence_taken *ret, struct fault *f) _must_check_;
