/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "session/session.h"

/*
 * A lower layer of an overlay must not be in another one (the kernel says ELOOP).  Without a runtime directory of the
 * login session a user's sessions are in the home directory, so where that is the worktree the sealed copies go into
 * a private directory elsewhere: "custody-ID" in one of a few fixed places.  A link in the session's directory names
 * it, so that the end of the session, or the sweep after a kill, removes it.
 */
#define SESSION_ASIDE "aside"

/* A directory for a layer beside TREE: the session's own, or one elsewhere.  Heap. */
int session_aside_make(const struct session *s, const char *tree, char **ret, struct fault *f) _must_check_;
/* RUN_FD: the session's directory, still locked.  No link: nothing to do. */
int session_aside_remove(int run_fd, const char *id, struct fault *f) _must_check_;
