/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

/*
 * A process between its parent and a program: the new parent of every process that the program leaves behind.  It kills all of
 * them when the program has ended, when it gets SIGTERM, and when its own parent is gone.
 *
 * Other processes stay after KEEPER_END_MS: one of another user (a program with sudo) cannot be killed, and one that waits for a
 * dead disk does not end.  The caller that waits for the keeper waits no longer than that.
 */
#define KEEPER_END_MS 3000

/* In the new process, the child of PARENT; SIGTERM and SIGCHLD are blocked from then on.  It has a session of its own. */
int process_keeper_begin(pid_t parent) _must_check_;
/* PROGRAM is its child.  Its exit status, or 128 + signal; after SIGTERM 128 + SIGKILL. */
int process_keeper_wait(pid_t program);
bool process_keeper_is_told(void); /* SIGTERM has come, and was not taken yet */
void process_keeper_end(void);	   /* kills all of them */
