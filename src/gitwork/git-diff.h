/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "gitwork/git-call.h"

/* The parameters that git.diff has, each of its type; checked again by the tool. */
int git_diff_require(const struct jdoc *params, struct fault *f) _must_check_;
/* The outgoing change: commits from the merge base to HEAD, index, untracked names. */
int git_diff(const struct git_call *c, struct jdoc **ret, struct fault *f) _must_check_;
