/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/profile.h"
#include "warden/exit-reason.h"

/* How much of a worktree is kept when its session ended like this. */
enum forensics_scope {
	FORENSICS_ALL, /* zero: whoever forgets to ask keeps everything */
	FORENSICS_CHANGES,
	FORENSICS_NONE,
};

/*
 * Pure.  By default every abnormal end but one that somebody asked for at the keyboard; a plain status other than 0 keeps
 * what was changed, everything else the whole tree.  The profile's `forensics` says otherwise.  INTERACTIVE: a shell,
 * whose status is that of its last command.
 */
enum forensics_scope forensics_decide(const struct profile *p, const struct exit_verdict *v,
				      bool interactive);
