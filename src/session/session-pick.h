/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "session/session-here.h"
#include "session/session-note.h"

/*
 * The session that a command line means.  If it names none, or `-` or `last`, it is the newest one that fits in the
 * current directory; a name of a session never replaces these words.
 */
enum session_fit {
	SESSION_FIT_ANY,     /* its worktree is this directory or a parent of it */
	SESSION_FIT_CHANGES, /* and its changes are kept */
	SESSION_FIT_RUNNING, /* and it runs, supervised by custody */
};

bool session_word_is_last(const char *word); /* NULL, "-", "last" */

/*
 * As session_note_find, or the newest that fits.  A newer session whose files cannot be read is an error: it may be the
 * one that is meant.
 */
int session_pick(const struct dirs *d, const char *word, enum session_fit fit, struct session_note *ret,
		 struct fault *f) _must_check_;
/* The same for the newest one with kept changes whose worktree is this directory itself. */
int session_pick_of(const struct dirs *d, uint64_t device, uint64_t inode, const char *word,
		    struct session_note *ret, struct fault *f) _must_check_;
