/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "session/session-note.h"

/* A session's note for people and for scripts. */

struct jdoc *session_describe_note(const struct session_note *n);
/* The command on one line, quoted as for sh, nothing a terminal would obey; heap, NULL on ENOMEM. */
char *session_command(const struct session_note *n);
char *session_shown(const char *text); /* the same of any text; NULL becomes "-" */

/* As session_note_find; *RET_STATUS is STATUS_NO after the answer "no such session" or "several" was told to stderr. */
int session_text_find(const struct dirs *d, const char *verb, const char *word, struct session_note *ret,
		      int *ret_status, struct fault *f) _must_check_;
