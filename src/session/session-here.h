/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "session/session-note.h"

/*
 * The current directory and its parents, by device and inode: a session belongs to this directory if its worktree is one
 * of them.  A path alone does not decide: another directory may have the name now.
 */
struct session_here {
	struct session_here_dir {
		uint64_t device, inode;
	} * dirs; /* the current directory first */
	size_t n;
};

/* Parents that cannot be searched end the list. */
int session_here_load(struct session_here *ret, struct fault *f) _must_check_;
void session_here_done(struct session_here *h);
#define _cleanup_session_here_ _cleanup_(session_here_done)

bool session_here_has(const struct session_here *h, uint64_t device, uint64_t inode);
/* The directory that has the name PATH now; NULL: none. */
bool session_here_has_path(const struct session_here *h, const char *path);
/* The worktree of N; a note of an older version has only the path. */
bool session_here_has_note(const struct session_here *h, const struct session_note *n);
