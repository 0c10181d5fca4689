/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "review/changes.h"

/*
 * The changes in .git directories as a person reads them: refs that moved, and the lines that the run added to the reflog of
 * HEAD.  No object is read and no git is executed: a payload wrote all of it, so this is what the copy says about itself.
 * docs/design/review.md.
 */
struct git_ref {
	char *name;	 /* "refs/heads/main", "HEAD" */
	char *old, *new; /* an object id, or "ref: refs/heads/main"; NULL: missing */
};

struct git_log {
	char *old, *new; /* object ids */
	char *name, *action, *subject;
	int64_t time;
};

struct git_repository {
	char *path; /* its .git directory */
	size_t objects_added, objects_removed, others;
	struct git_ref *refs;
	size_t n_refs;
	struct git_log *log; /* the oldest first; GIT_CHANGES_LOG at most */
	size_t n_log, n_more;
};

struct git_changes {
	struct git_repository *items;
	size_t n;
};

#define GIT_CHANGES_LOG 100
#define GIT_CHANGES_REFS 1000

/*
 * Sets `folded` of each change that a repository of RET stands for: objects, packs, refs, reflogs that only grew, the index, the
 * last commit message.  Never of one that apply refuses, of a change of mode, owner or attributes, of an entry that is neither file
 * nor directory, nor of one that has no such form: these stay in the list.  WHOLE: the trees are the .git directory of this path, which
 * is beside a linked worktree or a submodule; NULL: it is in them.
 */
int git_changes_fold(struct changes *c, int base, int upper, const char *whole, struct git_changes *ret,
		     struct fault *f) _must_check_;
void git_changes_done(struct git_changes *g);
#define _cleanup_git_changes_ _cleanup_(git_changes_done)
/* Is PATH a .git directory, or in one? */
bool git_changes_has(const char *path);
