/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

/* The one process that all this is for. */
struct payload_start {
	char **command, **environment;
	uint64_t ignored;   /* signals that were ignored when init started: back to default */
	uint64_t core_soft; /* RLIMIT_CORE that init took away from itself only */
	int slave;	    /* terminal to be, or negative: stdio stays as it is */
	int terminal;	    /* stdin already is the terminal that its session shall control */
};

/*
 * Forks and executes.  RET_PIPE yields the errno (an int) of an exec that failed, or end of file when it succeeded.
 * Returns its pid or negative errno.  The child gets a session of its own and an empty signal mask.
 */
long payload_start(const struct payload_start *s, int *ret_pipe);
