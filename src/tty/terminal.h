/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "base/fault.h"

/*
 * The caller's terminal while a payload has a pty: raw mode, window size, and restoring both.  A guard
 * process waits for this one to exit and restores the terminal, also after kill -9.  Where stdin is no terminal, or
 * stdout is a pipe, the terminal is shared: a pager behind the pipe, a shell loop that Ctrl-C must end.  It then stays
 * in the caller's modes, except while the payload itself reads single keys from its pty.
 */
struct terminal {
	int fd;		    /* the caller's; -EBADF: not in use */
	int master;	    /* the pty's; owned */
	bool shared, lines; /* as in struct terminal_plan */
	bool raw;	    /* the caller's terminal is in raw mode */
	struct termios saved;
	pid_t guard;
	int guard_fd;
};

/* Which of a payload's descriptors are its pty, and which of the caller's that pty is connected to. */
struct terminal_plan {
	unsigned int pty; /* bit N: descriptor N is the pty; 0: no pty */
	int fd;		  /* the caller's terminal; -EBADF: none */
	int keys;	  /* input of the pty */
	int screen;	  /* gets the output of the pty */
	bool shared; /* other programs may use the terminal too: its modes stay unless the payload reads keys */
	bool lines; /* shared, but stdin: lines are read from it */
};
#define TERMINAL_ALL 7U

#define TERMINAL_NONE                                                            \
	{                                                                        \
		.fd = -EBADF, .master = -EBADF, .guard = -1, .guard_fd = -EBADF, \
	}

/* A terminal stays a terminal and everything else stays as it is. ALWAYS: all three are the pty. */
struct terminal_plan terminal_plan(const int fd[3], bool always);
/* Saves the modes of the terminal FD and starts the guard; the caller may then change them. */
int terminal_hold(struct terminal *t, int fd, struct fault *f) _must_check_;
/* Takes ownership of MASTER. */
int terminal_attach(struct terminal *t, const struct terminal_plan *p, int master,
		    struct fault *f) _must_check_;
/*
 * Sets the caller's terminal to raw mode or back, as needed now.  A process in the background does neither: the
 * terminal would stop it (SIGTTOU).
 */
int terminal_follow(struct terminal *t, struct fault *f) _must_check_;
/* May keys be read now?  In the background a read would stop us (SIGTTIN). */
bool terminal_may_read(const struct terminal *t);
void terminal_resize(const struct terminal *t);
void terminal_restore(struct terminal *t);
#define _cleanup_terminal_ _cleanup_(terminal_restore)
