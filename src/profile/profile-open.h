/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "state/dirs.h"
#include "profile/profile.h"

/*
 * Loads profile NAME for this caller: the directories of D in order, the project around the current directory as
 * worktree, variables of the caller.  SESSION replaces `${session}`.  WORKSPACE, unless NULL, is the worktree whatever the profile
 * says: then the current directory need not exist.
 */
int profile_open(const struct dirs *d, const char *name, const char *session, const char *workspace,
		 struct profile **ret, struct fault *f) _must_check_;
/* The same for a caller that names none: the worktree's choice, BASE without one (profile-default.h). */
int profile_open_default(const struct dirs *d, const char *base, const char *session, const char *workspace,
			 struct profile **ret, struct fault *f) _must_check_;
