/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "gitwork/git-call.h"

/*
 * {"remote","branch"?,"have"?}: lists the branches of the remote, or puts one into a bundle in the worktree's repository, which git
 * there reads with `git fetch`.  Nothing of that repository is read, and no text of the session goes to the remote.
 */
int git_fetch(const struct git_call *c, struct jdoc **ret, struct fault *f) _must_check_;
