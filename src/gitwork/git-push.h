/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "gitwork/git-call.h"
#include "inspect/inspect.h"

/* {"remote","branch","commit"?}: the remote's own name, a branch that fits its patterns. */
int git_push_require(const struct jdoc *params, const struct git_remote *r, struct fault *f) _must_check_;

/*
 * Lists and inspects what would be sent.  RET is what an approver approves and git_push_send() sends: remote, url, branch, the ids
 * of the commit, of the branch before it, and of all commits, and the number of files.  -EACCES: FOUND says why.  The clean
 * repository stays.
 */
int git_push_prepare(const struct git_call *c, struct inspect_found *found, struct jdoc **ret,
		     struct fault *f) _must_check_;
/* C->params is that document.  The branch changes from the one commit to the other, or not at all. */
int git_push_send(const struct git_call *c, struct jdoc **ret, struct fault *f) _must_check_;
