/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * How a process ended that is somebody else's child.  The kernel tells it to whoever holds a pidfd once the parent has
 * collected it (Linux 6.15); before that a zombie's /proc/PID/stat has it for those who may look.
 */

/* Wait status of the process behind PIDFD, which has been collected.  False: this kernel does not tell. */
bool pidfd_end_status(int pidfd, int *ret);

/* Wait status of the zombie PID, whose number is still its own because PIDFD is not hung up.  False: not to be seen. */
bool pidfd_end_zombie(pid_t pid, int *ret);
