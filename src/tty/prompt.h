/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "tty/terminal.h"

/*
 * A question to the person at /dev/tty, never to stdin: a pipe cannot answer it, and neither can input typed
 * before it was shown.  While one is open, signals that end or stop a process are blocked: an interrupted
 * question is a No, and the terminal modes are always restored (after kill -9 by a guard process).
 */
struct prompt {
	int fd; /* /dev/tty */
	int signals;
	struct terminal held;
	sigset_t before;
	struct sigaction actions[4];
	int signal; /* that interrupted the last question, else 0 */
};

#define PROMPT_NONE                                                                  \
	{                                                                            \
		.fd = -EBADF, .signals = -EBADF, .held = TERMINAL_NONE, .signal = 0, \
	}

#define PROMPT_LINE_MAX 1024

/*
 * -ENXIO: no terminal.  -EBUSY: this process is in the background, or another program has the terminal in raw
 * mode and reads the keys.
 */
int prompt_open(struct prompt *p, struct fault *f) _must_check_;
void prompt_close(struct prompt *p);
#define _cleanup_prompt_ _cleanup_(prompt_close)

int prompt_show(struct prompt *p, const char *text, struct fault *f) _must_check_;

/*
 * Discards earlier input, shows QUESTION, reads one line without its newline.  -ECANCELED: end of file or a
 * signal (then p->signal); -ETIMEDOUT after TIMEOUT_S seconds (0: never); -EMSGSIZE: longer than RET.
 */
int prompt_ask(struct prompt *p, const char *question, bool echo, unsigned int timeout_s, char *ret,
	       size_t size, struct fault *f) _must_check_;
