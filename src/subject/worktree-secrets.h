/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/* What counts as a secret at the top level of a worktree, as the subject has it; NULL-terminated. */
extern const char *const worktree_secret_patterns[];

/*
 * Paths of secrets at the top level of WORKTREE, resolved and relative to it, appended to RET.  One directory is read, no tree
 * is walked.  A link counts by its target, if that is in the worktree; other targets do not exist inside.  NAMED gets those that
 * are found without a link.
 */
int worktree_secrets_find(const char *worktree, char ***ret, char ***named, struct fault *f) _must_check_;
/* The same for a tree without a path that can be resolved: links do not count. */
int worktree_secrets_find_plain(const char *tree, char ***ret, struct fault *f) _must_check_;
