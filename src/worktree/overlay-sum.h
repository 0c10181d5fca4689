/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

/*
 * The sum of two uppers of overlayfs, which were mounted with `userxattr`: one upper that, above the same worktree, shows
 * what UPPER above LOWER shows.  docs/design/continue.md.
 *
 * Directories are made anew, every other entry is a hard link: no byte is copied, unless a file has the most names that are
 * possible, and neither upper is written, apart from the link counts of its files.  OUT is an empty directory on their file system; all three are directories, and
 * the caller may read everything in them (as root, or in a user namespace: base/userns.h).
 *
 * -ENOTSUP: marks that the mounts of custody do not make (redirects, whiteouts by attribute).  After a failure OUT is
 * incomplete.
 */
struct overlay_sum_ask {
	int lower, upper, out;
	bool moment; /* UPPER is that of a mount: its files are copied, and entries that disappear are left out */
	int worktree; /* O_PATH is enough; whiteouts that hide nothing of it are left out.  -EBADF: all are made */
};
int overlay_sum_make(const struct overlay_sum_ask *ask, struct fault *f) _must_check_;
