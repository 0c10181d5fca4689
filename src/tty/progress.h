/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * One line on a terminal that says how far a long work has come; it goes when the work is done.  Nothing in the first
 * second, nothing when stderr is no terminal or nobody wants to hear anything.
 */
struct progress {
	int fd; /* negative: nobody looks */
	const char *what;
	_Atomic uint64_t next_ns; /* not before this */
	atomic_bool shown;
};

void progress_init(struct progress *p, const char *what);
/* As struct capture_options wants it: from any thread. */
void progress_tell(void *progress, uint64_t entries, uint64_t bytes);
void progress_done(struct progress *p);
#define _cleanup_progress_ _cleanup_(progress_done)
