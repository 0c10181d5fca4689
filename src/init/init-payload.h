/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The payload: the process that the container exists for. */
struct payload_start {
	char **command, **environment;
	uint64_t core_soft; /* original RLIMIT_CORE; init lowers only its own */
	int slave;	    /* slave of the terminal; negative: stdio stays unchanged */
	unsigned int tty;   /* bit N: descriptor N becomes the slave */
	bool dies_with_us;  /* it is killed when this process is */
	int terminal;	    /* stdin already is the terminal that its session is to control */
};

/*
 * Forks and executes.  RET_PIPE yields the errno (an int) of an exec that failed, or end of file when it succeeded.
 * Returns its pid or negative errno.  The child gets a session of its own and an empty signal mask.
 */
long payload_start(const struct payload_start *s, int *ret_pipe);
