/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "session/session-note.h"

/* session.json of a session as text and as JSON. */

struct jdoc *session_print_describe(const struct session_note *n);
/* The command on one line, quoted for sh, control characters escaped; heap, NULL on ENOMEM. */
char *session_print_command(const struct session_note *n);
char *session_print_text(const char *text); /* the same for any text; NULL becomes "-" */

/* As session_note_find; if no session or several match, reports it on stderr and sets *RET_STATUS to STATUS_NO. */
int session_print_find(const struct dirs *d, const char *verb, const char *word, struct session_note *ret,
		       int *ret_status, struct fault *f) _must_check_;
