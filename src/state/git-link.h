/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * The repository that a file `.git` names ("gitdir: PATH"), as in a linked worktree or a submodule. Any process that wrote the
 * tree may have written that file, so the repository counts only if it belongs to the owner of the tree, looks like a git
 * directory, and refers back to this very file or directory. Everything is looked up by descriptor, no symbolic link is
 * followed, no file above GIT_LINK_FILE_MAX is read, and git is never run.
 */
#define GIT_LINK_FILE_MAX ((size_t)64 * 1024)

struct git_link {
	char *repository; /* absolute, no links: with objects and refs */
	char *own; /* of a linked worktree: its part below REPOSITORY, "worktrees/NAME"; NULL: a submodule */
	dev_t device; /* of REPOSITORY */
	ino_t inode;
};

/*
 * TOP: the directory (O_PATH suffices) whose file .git, an inode GIT of this file system, has the text PATH after "gitdir: ".
 * OWNER: of TOP. Negative: the text of F continues a sentence about the repository, "which ...".
 */
int git_link_find(int top, ino_t git, const char *path, uid_t owner, struct git_link *ret,
		  struct fault *f) _must_check_;
void git_link_done(struct git_link *g);
#define _cleanup_git_link_ _cleanup_(git_link_done)
