/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>

#include "base/fault.h"
#include "session/session-upper.h"

/*
 * The changes of a session as one upper above the worktree.  Those of a session that began on the worktree are its own
 * upper, STATE/sessions/ID/u.  A continued session has its sum beside it, STATE/sessions/ID/s: the changes of its base, and
 * its own above them (worktree/overlay-sum.h).  It consists of hard links, so it needs no base any more, and it can be
 * made again while the base exists.  docs/design/continue.md.
 */

/* The one that K, in DIRFD, has.  -ENOENT: its sum was not made, or not completely. */
int session_layer_open(int dirfd, const struct session_upper *k, struct fault *f) _must_check_;
const char *session_layer_name(const struct session_upper *k);

/* The session that another one continues: its changes of the same tree, the worktree or the repository beside it. */
struct session_base {
	int lock; /* STATE/sessions/ID, a shared lock */
	int dir;  /* it, or the directory of the repository in it */
	int layer;
	struct session_upper kept;
};
#define SESSION_BASE_NONE ((struct session_base){ .lock = -EBADF, .dir = -EBADF, .layer = -EBADF })

/* The one that K, of a continued session, names. */
int session_base_open(const struct dirs *d, const struct session_upper *k, struct session_base *ret,
		      struct fault *f) _must_check_;
void session_base_done(struct session_base *b);
#define _cleanup_session_base_ _cleanup_(session_base_done)

/* Makes the sum of the session K in DIRFD above the layer BASE.  An existing one is replaced when the new one is complete. */
int session_sum_make(int base, const struct session_upper *k, int dirfd, struct fault *f) _must_check_;
/* The same with the base that K names: it is opened and locked. */
int session_sum_make_from(const struct dirs *d, const struct session_upper *k, int dirfd,
			  struct fault *f) _must_check_;

/*
 * For a session that runs: the sum as it is now, in the directory NAME of DIRFD, which the caller removes; so does the end of
 * the session.  Files of its upper are copied, and nothing of it is changed.
 */
int session_sum_copy(const struct dirs *d, const struct session_upper *k, int dirfd, const char *name,
		     struct fault *f) _must_check_;
