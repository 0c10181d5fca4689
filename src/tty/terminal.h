/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "base/fault.h"

/*
 * The caller's terminal while a payload has a pty: raw mode, window size, and restoring both.  A guard
 * process waits for this one to exit and restores the terminal, also after kill -9.
 */
struct terminal {
	int fd;	    /* the caller's; -EBADF: not in use */
	int master; /* the pty's; owned */
	struct termios saved;
	pid_t guard;
	int guard_fd;
};

#define TERMINAL_NONE                                                            \
	{                                                                        \
		.fd = -EBADF, .master = -EBADF, .guard = -1, .guard_fd = -EBADF, \
	}

/* Are the three descriptors one terminal? */
bool terminal_is_one(const int fd[3]);
/* Saves the modes of the terminal FD and starts the guard; the caller may then change them. */
int terminal_hold(struct terminal *t, int fd, struct fault *f) _must_check_;
/* Takes ownership of MASTER. */
int terminal_attach(struct terminal *t, int fd, int master, struct fault *f) _must_check_;
void terminal_resize(const struct terminal *t);
void terminal_restore(struct terminal *t);
#define _cleanup_terminal_ _cleanup_(terminal_restore)
