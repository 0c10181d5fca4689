/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/profile-file.h"

/*
 * WORKTREE/.custody/profile: one line, the name of the profile of runs in this worktree that name none.  The worktree is
 * untrusted, so unless the file is in the trust file the profile may only be as tight as the one that would apply
 * without it.
 */
#define PROFILE_DEFAULT_FILE ".custody/profile"

/* Is PATH such a file?  By its last two components. */
bool profile_default_is(const char *path);
/* The name in FILE; heap.  Anything but one name is refused. */
int profile_default_parse(const struct profile_file *file, char **ret, struct fault *f) _must_check_;
/*
 * The profile for a run in SRC->worktree that names none: that of the file, or BASE if the file is missing.  The fault
 * of a looser one names the key and the command that trusts the file.
 */
int profile_default_load(const char *base, const struct profile_sources *src, const struct profile_vars *vars,
			 struct profile **ret, struct fault *f) _must_check_;
