/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * A place in a tree that is being made.  Steps of one name each, none of them followed, so that no length and no planted
 * link matters; ".." is safe because nobody but us makes anything there.
 */
struct restore_cursor {
	int rootfd, fd; /* FD -EBADF: nowhere yet */
	char *path;	/* of FD; "" is the root */
};

/* To the directory that holds PATH, which is relative; *RET_NAME its last part, borrowed from PATH. */
int restore_cursor_move(struct restore_cursor *c, const char *path, const char **ret_name,
			struct fault *f) _must_check_;
void restore_cursor_done(struct restore_cursor *c);
