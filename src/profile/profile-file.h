/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/digest.h"
#include "profile/profile.h"

/* One profile file, read once: the bytes hashed for trust are the bytes parsed. */
struct profile_file {
	char *path; /* resolved: links in its directories followed */
	char *text;
	size_t len;
	struct digest digest; /* of the bytes */
	bool in_worktree;     /* may only tighten, unless trusted */
};

/*
 * NAME is looked up in SRC, or opened as a path when it contains a '/'.  OUTSIDE: the worktree is not
 * searched, because the file that refers to NAME is outside it.  BEHIND: the resolved path of a file that
 * extends its namesake: the search by name goes on behind it; NULL: from the start.
 */
int profile_file_open(const char *name, const struct profile_sources *src, bool outside, const char *behind,
		      struct profile_file *ret, struct fault *f) _must_check_;
void profile_file_done(struct profile_file *file);
#define _cleanup_profile_file_ _cleanup_(profile_file_done)

/* Parses the text and checks every key and value; its parents are not loaded. */
int profile_file_verify(const struct profile_file *file, const struct profile_vars *vars,
			struct fault *f) _must_check_;

/* Is UID the overflow id that a user namespace with a partial map shows for root and other unmapped users? */
bool profile_owner_is_unmapped(uid_t uid);

/* Names of the profiles in DIR, sorted; empty if DIR does not exist. */
int profile_dir_list(const char *dir, char ***ret, struct fault *f) _must_check_;
/* WORKTREE/.custody/profiles; heap; NULL on ENOMEM. */
char *profile_worktree_dir(const char *worktree);
