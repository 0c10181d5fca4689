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

struct run_base {
	bool open; /* false: the run continues none, and the rest is empty */
	int lock;  /* STATE/sessions/ID, flocked */
	struct session_upper kept;
	uid_t uid_base; /* of its range of ids; the files of its changes belong to one of them */
	char *layer;	/* host path of the changes */
	char **chain;	/* of the new session: this one first */
	struct subject_base subject;
};

struct run_base_ask {
	const struct dirs *dirs;
	const struct profile *profile; /* with the caller's options */
	bool in_root;		       /* the worktree is that of a sandbox root */
	const char *repository;	       /* of the worktree, if it is outside; else NULL */
	bool by_default;     /* the profile asks for it: without a session the run begins on the worktree */
	const char *session; /* as named; NULL: the newest of this directory */
	bool restarted;
};

/* Finds, checks and locks the session, and mounts the view of its changes.  BY_DEFAULT and none found: not open. */
int run_base_open(const struct run_base_ask *ask, struct run_base *ret, struct fault *f) _must_check_;
void run_base_done(struct run_base *b);
#define _cleanup_run_base_ _cleanup_(run_base_done)
