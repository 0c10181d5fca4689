/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "gitwork/git-list.h"
#include "inspect/inspect.h"

/*
 * Everything that a push would send: the commits of GIT_CLEAN that no branch or tag of the remote has (refs/remote/...), what
 * each of them changes, and each object that is new.
 */
#define GIT_COMMITS_MAX 1000
#define GIT_CHANGES_MAX 100000

struct git_outgoing {
	const struct git_box *box;
	const char *commit;
	struct strbuf commits; /* ids, the newest first, each with a NUL */
	size_t n_commits;
	struct strbuf text; /* of the changes */
	struct git_change *changes;
	size_t n_changes;
	size_t n_files; /* different paths */
};

int git_outgoing_load(struct git_outgoing *o, struct fault *f) _must_check_;
/* Every path, mode and content, every commit with its names and its message.  Negative: not all could be inspected. */
int git_outgoing_inspect(const struct git_outgoing *o, struct inspect_found *found,
			 struct fault *f) _must_check_;
void git_outgoing_done(struct git_outgoing *o);
#define _cleanup_git_outgoing_ _cleanup_(git_outgoing_done)
