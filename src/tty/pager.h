/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * A pager between stdout and the terminal, by git's rules: the command is the caller's own (CUSTODY_PAGER, GIT_PAGER, PAGER,
 * else less), a shell runs it, LESS=FRX and LV=-c are set if they are not.  It starts with the first byte of output, so that a
 * command that prints nothing shows no empty page.
 */
struct pager {
	pid_t pid;    /* 0: none */
	int terminal; /* stdout of the caller while the pager has it */
	const char *command;
};
#define PAGER_NONE ((struct pager){ .terminal = -EBADF })

/*
 * The command; NULL: none is wanted (an empty one, or cat), or the program is not found.  *RET_MISSING: the caller named one
 * that is not found.  Borrowed from the environment.
 */
const char *pager_choose(const char **ret_missing);
/* From here on stdout is the pager's input.  Stdout must be a terminal, and nothing was printed yet. */
int pager_open(struct pager *p, const char *command, struct fault *f) _must_check_;
/*
 * Output begins.  The keys for SIGINT and SIGQUIT are the pager's now: it stays on the screen, and the command ends when it is
 * left.
 */
void pager_begin(const struct pager *p);
/* Waits until the user leaves it.  Output that was not read is no error.  -ENOENT: it could not be executed. */
int pager_close(struct pager *p, struct fault *f) _must_check_;
