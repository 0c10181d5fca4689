/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * A directory in the tree that is being restored.  It moves one name at a time without following links, so that long
 * paths and planted links do no harm; ".." is safe because only the restore writes there.
 */
struct restore_cursor {
	int rootfd, fd; /* FD -EBADF: not opened yet */
	char *path;	/* of FD; "" is the root */
};

/* Moves to the parent directory of PATH, which is relative; *RET_NAME: its last part, borrowed from PATH. */
int restore_cursor_move(struct restore_cursor *c, const char *path, const char **ret_name,
			struct fault *f) _must_check_;
void restore_cursor_done(struct restore_cursor *c);
