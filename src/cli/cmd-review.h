/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/tree-at.h"
#include "cli/command.h"
#include "review/changes.h"
#include "review/git-changes.h"
#include "session/session-upper.h"
#include "state/lane.h"
#include "ledger/ledger.h"
#include "state/sandbox-root.h"
#include "session/session-note.h"
#include "review/review-prune.h"

/* Reads both sides of changes; one for each thread. */
struct review_reader {
	struct tree_at base, upper;
	uint64_t digested; /* bytes read only for digests */
};
#define REVIEW_READER_NONE ((struct review_reader){ .base = TREE_AT_NONE, .upper = TREE_AT_NONE })

/* One call of diff, apply or discard, with the kept upper of the session. */
struct review_call {
	struct command_call *call;
	const char *word; /* the session as named; NULL: it was not */
	char **paths;	  /* below the worktree; NULL: all */

	struct lane_pass *pass; /* for apply and discard; NULL: read-only */
	struct ledger *ledger;	/* opened before the process leaves the host's user namespace */
	struct sandbox_root
		*root; /* locked against a reset if the worktree is its workspace; NULL: it is not */
	struct session_note note;
	struct session_upper kept;
	int dir, upper, base;
	bool running;	 /* a session that still runs: only read */
	char moment[32]; /* with it: directory in DIR with the sum of its chain; "": none */
	struct changes changes;
	/* Changes of the repository, if it is another directory than the worktree; heap, borrows from this one. NULL: none. */
	struct review_call *repository;

	/* diff */
	struct review_reader reader;
	struct git_changes git;
	bool terminal; /* a person reads stdout, through a pager or not: contents are escaped */
	bool colour;
};
#define REVIEW_NONE \
	((struct review_call){ .dir = -EBADF, .upper = -EBADF, .base = -EBADF, .reader = REVIEW_READER_NONE })

/* Finds the session, locks its kept upper, runs ACT.  A refusal is reported on stderr. */
int review_run(struct command_call *c, int (*act)(struct review_call *r, struct fault *f),
	       struct fault *f) _must_check_;
/* The same for the session WORD, without paths. */
int review_run_on(struct command_call *c, const char *word,
		  int (*act)(struct review_call *r, struct fault *f), struct fault *f) _must_check_;
/* Finds the session without touching it: an exit status, or negative errno. */
int review_find(struct command_call *c, const char *word, struct session_note *ret,
		struct fault *f) _must_check_;

/* Opens both trees and collects the changes, also of the repository; marks those that apply refuses. */
int review_load(struct review_call *r, struct fault *f) _must_check_;
/* The record is on disk when it returns 0.  The caller frees D. */
int review_record(struct review_call *r, const char *kind, const char *status, const struct jdoc *d,
		  struct fault *f) _must_check_;
/* Details of a record: user and worktree. */
struct jdoc *review_describe(const struct review_call *r);

/* PATH for terminals and patch programs: quoted if it has special characters; "." for the root.  Never NULL. */
const char *review_quote(const char *path, char **ret);
/* cmd-review-repository.c: sets r->repository, which stays NULL if the session has none; frees its own parts. */
int review_open_repository(struct review_call *r, struct fault *f) _must_check_;
void review_free_repository(struct review_call *r);
/* A list without contents, because objects of git have none that a patch shows. */
void review_print_repository(const struct review_call *r);
void review_describe_repository(const struct review_call *r, struct jdoc *o);
/* Its changes, picked and not refused by apply, or with ALL every one that differs. */
size_t review_count_changes(const struct review_call *r, bool all);
/* cmd-review-print.c */
#define REVIEW_COUNTED_MAX 10000 /* changes whose lines --stat counts without --lines */
int review_print_diff(struct review_call *r, struct fault *f) _must_check_;
int review_print_stat(struct review_call *r, struct fault *f) _must_check_;
int review_print_json(struct review_call *r, struct fault *f) _must_check_;
/* cmd-review-patch.c: one change as a patch, or the number of its lines. */
struct review_count {
	size_t added, removed;
	bool binary, large;
};
int review_print_change(struct review_call *r, const struct change *ch, struct fault *f) _must_check_;
int review_count_change(struct review_reader *r, const struct change *ch, struct review_count *ret,
			struct fault *f) _must_check_;
/* cmd-review-count.c: counts the lines of all N changes V, with several threads.  RET: N of them. */
int review_count_all(struct review_call *r, struct change *const *v, size_t n, struct review_count *ret,
		     struct fault *f) _must_check_;
/* cmd-review-git.c: repositories whose changes are folded. */
void review_print_git(const struct review_call *r, bool colour);
void review_describe_git(const struct review_call *r, struct jdoc *doc);
/* Kind of a change that is listed first ("set-id"), or NULL.  *RET_RANK sorts. */
const char *review_attention(const struct change *ch, int *ret_rank);
