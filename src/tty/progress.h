/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * One line on a terminal that shows the progress of a long operation with its rate; cleared when it is done.  Not shown in
 * the first second, when stderr is not a terminal, or with -q.
 */
struct progress {
	int fd; /* negative: not shown */
	const char *what;
	uint64_t begin_ns;
	_Atomic uint64_t next_ns; /* first time of display */
	atomic_bool shown;
};

void progress_init(struct progress *p, const char *what);
/* Signature of the callback in struct capture_options; callable from any thread. */
void progress_tell(void *progress, uint64_t entries, uint64_t bytes);
/* Clears the line, because a line of output follows; the next call of progress_tell shows it again. */
void progress_pause(struct progress *p);
void progress_done(struct progress *p);
#define _cleanup_progress_ _cleanup_(progress_done)
