/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/str.h"
#include "approval/approval-store.h"

/*
 * Appends "custody VERB WORD" so that it works when pasted into another terminal of this machine: with the
 * program's path if PATH does not lead to it, with the CUSTODY_ROOT or XDG_STATE_HOME that moved the state,
 * and with the lane unless it is the default.  WORD may be NULL.
 */
void approval_text_put_command(struct strbuf *out, const struct approval_store *d, const char *verb,
			       const char *word);
