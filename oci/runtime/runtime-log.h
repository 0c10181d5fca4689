/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

/*
 * Error messages of custody-runtime: always as plain text on stderr, and in the file that the engine named.
 * Engines use the last entry of level "error" and show its `msg`; docker even derives the exit status (126, 127)
 * from its text and expects Go's spelling of errno texts, which begin in lower case.
 */
enum runtime_level {
	LEVEL_ERROR,
	LEVEL_WARNING,
	LEVEL_INFO,
	LEVEL_DEBUG,
};

struct runtime_log {
	enum runtime_level level; /* less severe messages are not written */
	bool json;
	int fd;		    /* --log FILE; negative: none */
	int journal;	    /* socket of the journal; negative: none */
	const char *syslog; /* --log syslog:NAME; NULL: none */
	const char *name;   /* container's id, for the journal; NULL before it is known */
};

#define RUNTIME_LOG_NONE ((struct runtime_log){ .fd = -1, .journal = -1 })

/* TARGET is a path, file:PATH, syslog:NAME or journald:NAME; all may be NULL. */
int runtime_log_open(const char *target, const char *format, const char *level, struct runtime_log *ret,
		     struct fault *f) _must_check_;
void runtime_log_done(struct runtime_log *log);
#define _cleanup_runtime_log_ _cleanup_(runtime_log_done)

/* TEXT, and ": " with the lower-case text of ERR unless that is 0. */
void runtime_log_write(const struct runtime_log *log, enum runtime_level level, int err, const char *text);
void runtime_log_fault(const struct runtime_log *log, const struct fault *f);
