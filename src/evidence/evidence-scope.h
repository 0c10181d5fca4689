/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/profile.h"
#include "session/exit-reason.h"

/* How much of a worktree is captured after an exit. */
enum evidence_scope {
	EVIDENCE_SCOPE_ALL, /* zero: an unset scope captures everything */
	EVIDENCE_SCOPE_CHANGES,
	EVIDENCE_SCOPE_NONE,
};

/*
 * Pure.  Default: every abnormal exit except a cancellation by the user; a non-zero exit status captures the changes,
 * everything else the whole tree.  `forensics` of the profile overrides this.  INTERACTIVE: a shell, whose status is
 * that of its last command.
 */
enum evidence_scope evidence_scope_decide(const struct profile *p, const struct exit_verdict *v,
					  bool interactive);

/*
 * The same if a signal is known only as a shell's status: 137 may be SIGKILL or `exit 137`, so the larger of both
 * scopes applies.
 */
enum evidence_scope evidence_scope_decide_shell(const struct profile *p, const struct exit_verdict *v);
