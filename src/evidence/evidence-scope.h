/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/profile.h"
#include "session/exit-reason.h"

/* How much of a worktree is kept when its session ended like this. */
enum evidence_scope {
	EVIDENCE_SCOPE_ALL, /* zero: whoever forgets to ask keeps everything */
	EVIDENCE_SCOPE_CHANGES,
	EVIDENCE_SCOPE_NONE,
};

/*
 * Pure.  By default every abnormal end but one that somebody asked for at the keyboard; a plain status other than 0 keeps
 * what was changed, everything else the whole tree.  The profile's `forensics` says otherwise.  INTERACTIVE: a shell,
 * whose status is that of its last command.
 */
enum evidence_scope evidence_scope_decide(const struct profile *p, const struct exit_verdict *v,
					  bool interactive);

/*
 * The same where a signal is only known as a shell tells it: 137 may be one or `exit 137`, so whatever is due after either
 * is kept.
 */
enum evidence_scope evidence_scope_decide_shell(const struct profile *p, const struct exit_verdict *v);
