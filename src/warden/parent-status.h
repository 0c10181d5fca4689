/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * The status of a process whose parent is custody-parent (src/parent/parent-proto.h): the process stays unreaped until it was read
 * here.  FD is the socket, and is closed and set to -EBADF once nothing more can come: the engine can reap the process then.
 */

/* Waits up to TIMEOUT_MS.  False: not known, because custody-parent was killed (FD is closed) or has not sent it yet. */
bool parent_status_read(int *fd, int timeout_ms, int *ret);

/* The engine becomes the parent, with or without a status. */
void parent_status_release(int *fd);
