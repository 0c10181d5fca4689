/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "session/session-pick.h"

/* session.json of a session as text and as JSON. */

struct jdoc *session_print_describe(const struct session_note *n);
/* The command on one line, quoted for sh, control characters escaped; heap, NULL on ENOMEM. */
char *session_print_command(const struct session_note *n);
char *session_print_text(const char *text); /* the same for any text; NULL becomes "-" */

/*
 * As session_pick; WORD NULL: none was given.  If no session or several match, reports it on stderr and sets *RET_STATUS
 * to STATUS_NO.  A session that was not named is printed on stderr, with ACTION ("apply the changes of"; may be empty).
 */
struct session_print_ask {
	const char *verb, *word, *action;
	enum session_fit fit;
	bool quiet; /* do not print it */
};
int session_print_find(const struct dirs *d, const struct session_print_ask *ask, struct session_note *ret,
		       int *ret_status, struct fault *f) _must_check_;
