/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/tree-at.h"
#include "review/changes.h"

/*
 * Paths that decide which programs git, or another program of the owner, runs: workspace.protect, and the same in every
 * repository of the tree.  A repository is a directory .git, in any case of its letters, or one that git takes for one by its
 * content.  docs/design/review.md, "Protected paths".
 */

/*
 * OWN, of both functions: the tree itself is a repository, and its part OWN ("worktrees/NAME", or "") holds HEAD, index and logs
 * of the linked worktree that was used, which git writes and which name no program; NULL: an ordinary tree.
 */

/* Sets ALIAS of every change that is at or below an entry of .git, or .git itself, under another name.  -ENOMEM. */
int review_mark_aliases(struct changes *c, struct tree_at *base, const char *own) _must_check_;
/* What CH would change of them; static text or an entry of PROTECT.  NULL: nothing. */
const char *review_find_protected(const struct changes *c, struct tree_at *base, const struct change *ch,
				  char *const *protect, const char *own);
