/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "profile/profile.h"
#include "session/session-note.h"
#include "session/session-upper.h"
#include "state/dirs.h"
#include "subject/subject.h"

/*
 * The session that a run continues, its base: its kept changes are a frozen layer between the worktree and the new upper.
 * While the run lasts its supervisor holds a shared lock on them, so that no process removes or applies them.
 * docs/design/continue.md.
 */
#define RUN_BASE_CHAIN_MAX 16 /* sessions that a chain names */

/* The kept changes of one tree: the worktree, or the repository beside it. */
struct run_layer {
	bool open; /* false: the rest is empty */
	struct session_upper kept;
	char *path;   /* host path of the changes */
	char **chain; /* of the new session's tree: the base first */
	struct subject_base subject;
};

void run_layer_done(struct run_layer *l);
/*
 * DIR, "STATE/sessions/ID" or BELOW in it, is locked by its reader, and KEPT of L is read: the names of the chain, the changes, a view
 * of them and the digest of their manifest.
 */
int run_layer_open(const struct dirs *d, int dir, const char *below, struct run_layer *l,
		   struct fault *f) _must_check_;

struct run_base {
	bool open;	/* false: the run continues none, and the rest is empty */
	int lock;	/* STATE/sessions/ID, flocked */
	uid_t uid_base; /* of its range of ids; the files of its changes belong to one of them */
	struct run_layer tree, repository; /* not open: the base has none, and the run begins on the host's */
};

struct run_base_ask {
	const struct dirs *dirs;
	const struct profile *profile; /* with the caller's options */
	bool in_root;		       /* the worktree is that of a sandbox root */
	const struct git_link *git;    /* the repository of the worktree, if it is outside; else NULL */
	bool by_default;     /* the profile asks for it: without a session the run begins on the worktree */
	const char *session; /* as named; NULL: the newest of this directory */
	bool restarted;
};

/* Finds, checks and locks the session, and mounts the view of its changes.  BY_DEFAULT and none found: not open. */
int run_base_open(const struct run_base_ask *ask, struct run_base *ret, struct fault *f) _must_check_;
void run_base_done(struct run_base *b);
#define _cleanup_run_base_ _cleanup_(run_base_done)

/* The changes that the base, whose lock B has, made to the repository beside its worktree.  None: not open. */
int run_base_open_repository(const struct run_base_ask *ask, struct run_base *b,
			     struct fault *f) _must_check_;
