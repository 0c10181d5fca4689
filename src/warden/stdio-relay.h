/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "tty/terminal.h"
#include "warden/pump.h"

/*
 * Standard input, output and error of one run.  The runtime changes the owner of its stdio, so the container gets
 * pipes of ours and never the caller's files.  An input that is an anonymous pipe is lent piece by piece, so that
 * bytes that the payload did not read stay in it.
 */
enum { STDIO_IN, STDIO_OUT, STDIO_ERR, STDIO_N };
/* Pumps: one per descriptor that is no pty, then from and to the pty. */
enum { STDIO_SCREEN = STDIO_N, STDIO_KEYS, STDIO_PUMPS };

struct stdio {
	int child[STDIO_N];	       /* ends for the container; closed by stdio_close_child */
	struct pump pump[STDIO_PUMPS]; /* in and keys towards the payload, the others towards the caller */
	int input;		       /* the caller's, if it is a seekable file; else -EBADF */
	unsigned int pty;	       /* bit N: the payload's descriptor N is a pty */
	bool merged;		       /* the caller's output and error are one file, and one pipe */
};

/* USER: the caller's three. PTY: bits of those that stdio_use_terminal connects instead. */
int stdio_open(struct stdio *s, const int user[STDIO_N], unsigned int pty, struct fault *f) _must_check_;
/* From now on the pty's MASTER, which the caller closes, is connected as P says. */
int stdio_use_terminal(struct stdio *s, const struct terminal_plan *p, int master,
		       struct fault *f) _must_check_;
/* Keeps the last output from now on. T may be NULL. */
void stdio_remember(struct stdio *s, struct tail *t);
/* The same bytes into L, and nowhere else.  L may be NULL. */
void stdio_log(struct stdio *s, struct output_log *l);
/* From now on stdio_has_open_line knows the end of the output. */
void stdio_watch_lines(struct stdio *s);
/* Did the bytes for standard output end without a newline? */
bool stdio_has_open_line(const struct stdio *s);
void stdio_close_child(struct stdio *s);
/* The payload exited: input stops. A file's offset is set back to the first byte that it did not read. */
void stdio_end_input(struct stdio *s);
void stdio_done(struct stdio *s);
#define _cleanup_stdio_ _cleanup_(stdio_done)
