/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "state/git-link.h"

/*
 * The project around the current directory: the top level of its git work tree, else the directory itself. Found by
 * descriptors, from directory to parent; git is never run and nothing below .git is read but the types of three names. A file
 * .git is followed under the conditions of state/git-link.h.
 *
 * The walk never takes a directory of another owner or on another file system, a home directory of the caller, a parent of one, or
 * "/": a .git there would show more than the user works in.
 */
struct project {
	char *top;	     /* absolute, no links */
	struct git_link git; /* .git of TOP is a file: the repository that it names; else empty */
	char *below; /* path of the current directory below TOP, without a leading '/'; "" if they are the same */
};

/*
 * HOMES: of the caller (state/caller-homes.h), resolved; NULL: not known. A .git that is neither a directory nor a file that may be followed is refused by its
 * name, because git would follow it, and a walk past it would take another project; a directory .git that git does not recognize is passed, as git does.
 */
int project_find(char *const *homes, struct project *ret, struct fault *f) _must_check_;
/*
 * The same without a refusal: any .git ends the walk. For trust: files of this tree are not the user's own settings. HOME: by
 * passwd alone, because a variable must not make files above it the user's own.
 */
int project_find_any(const char *home, struct project *ret, struct fault *f) _must_check_;
/* Is it, by its name, the home of any user, or the parent of homes?  Under sudo the caller's home is not the user's. */
bool project_is_home(const char *path);
void project_done(struct project *p);
#define _cleanup_project_ _cleanup_(project_done)
