/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "cli/command.h"
#include "review/changes.h"
#include "session/session-upper.h"
#include "state/lane.h"
#include "ledger/ledger.h"
#include "state/sandbox-root.h"
#include "session/session-note.h"
#include "review/review-prune.h"

/* One call of diff, apply or discard: what the command line says, and the kept layer that it is about. */
struct review_call {
	struct command_call *call;
	char **paths; /* below the worktree; NULL: all */

	struct lane_pass *pass; /* of whoever changes something; NULL: nobody does */
	struct ledger *ledger;	/* open before we leave the host's user namespace */
	struct sandbox_root
		*root; /* that the worktree is the workspace of, held against a reset; NULL: of none */
	struct session_note note;
	struct session_upper kept;
	int dir, upper, base;
	struct changes changes;
	uint64_t digested; /* bytes that were read only to say their digest */
};
#define REVIEW_NONE ((struct review_call){ .dir = -EBADF, .upper = -EBADF, .base = -EBADF })

/* Finds the session, locks its kept upper, runs ACT.  A refusal is reported on stderr. */
int review_run(struct command_call *c, int (*act)(struct review_call *r, struct fault *f),
	       struct fault *f) _must_check_;

/* Both trees and the list, judged. */
int review_load(struct review_call *r, struct fault *f) _must_check_;
/* On the disk when it returns 0.  D is the caller's. */
int review_record(struct review_call *r, const char *kind, const char *status, const struct jdoc *d,
		  struct fault *f) _must_check_;
/* Who asks, and where. */
struct jdoc *review_describe(const struct review_call *r);

/* A path for people and for patch programs: quoted when it has anything odd; "." for the root.  Heap, never NULL. */
const char *review_quote(const char *path, char **ret);
/* review-print.c */
int review_print_diff(struct review_call *r, struct fault *f) _must_check_;
int review_print_stat(struct review_call *r, struct fault *f) _must_check_;
int review_print_json(struct review_call *r, struct fault *f) _must_check_;
/* review-text.c: one change as a patch; RET counts its lines.  QUIET: counted only. */
struct review_count {
	size_t added, removed;
	bool binary, large;
};
int review_print_change(struct review_call *r, const struct change *ch, bool quiet, struct review_count *ret,
			struct fault *f) _must_check_;
/* What deserves a look before everything else: a word, or NULL.  *RET_RANK sorts. */
const char *review_attention(const struct change *ch, int *ret_rank);
