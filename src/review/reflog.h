/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/*
 * One line of a git reflog, "OLD NEW NAME <MAIL> TIME ZONE<TAB>ACTION: SUBJECT", written by a payload: untrusted.  All texts are
 * borrowed from the line, are not terminated and may contain any byte but NUL and line feed.
 */
struct reflog_span {
	const char *text;
	size_t len;
};

struct reflog_entry {
	struct reflog_span old, new; /* 40 or 64 hex digits */
	struct reflog_span name;     /* without the mail address; may be empty */
	int64_t time;		     /* seconds since 1970 */
	struct reflog_span action;   /* "commit", "commit (amend)", "checkout" */
	struct reflog_span subject;  /* may be empty */
};

/* LINE without its line feed.  -EINVAL: git does not write such a line. */
int reflog_parse(const char *line, size_t len, struct reflog_entry *ret) _must_check_;

/* Length of the object id at TEXT: 40 or 64 lower-case hex digits, and no digit behind them; 0: no id. */
size_t reflog_id_length(const char *text, size_t len);
