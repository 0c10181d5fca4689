/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "init/init-options.h"
#include "init/init-reap.h"

/* Further commands in this container, for `custody exec`: EXEC of init-proto.h. */

/*
 * One message of the supervisor into MSG, without waiting; bytes, 0 at end of file, or negative errno.  FDS gets its descriptors if it
 * has exactly INIT_EXEC_FDS of them, else FDS[0] is negative.
 */
long exec_receive(int socket, struct init_msg *msg, int fds[INIT_EXEC_FDS]);

/* Forks a child that proves its layers, and executes the command on GO.  Takes the descriptors. */
void exec_fork(const struct reap *r, const int fds[INIT_EXEC_FDS]);

void exec_close(const int fds[INIT_EXEC_FDS]);

/* In such a child: kills and reaps every process below it. */
void exec_end_below(long payload);
