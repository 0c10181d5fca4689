/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "state/dirs.h"
#include "profile/profile.h"

/*
 * The profile NAME as a command of this caller sees it: the directories of D in their order, the current directory
 * as worktree, variables from the caller.  SESSION stands for `${session}`.
 */
int profile_open(const struct dirs *d, const char *name, const char *session, struct profile **ret,
		 struct fault *f) _must_check_;
