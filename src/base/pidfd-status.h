/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Exit status of a process that is not our child. The kernel returns it through a pidfd once the parent has reaped
 * the process (Linux 6.15); before that /proc/PID/stat of the zombie has it for privileged readers.
 */

/* Whether the kernel keeps the status for a pidfd.  False also if that cannot be found out. */
bool pidfd_end_supported(void);

/* Wait status of the process behind PIDFD, which has been reaped. False: the kernel does not support it. */
bool pidfd_end_status(int pidfd, int *ret);

/* Is the process not reaped yet? */
bool pidfd_is_unreaped(int pidfd);

/* Wait status of the zombie PID, which is not reused because it is not reaped yet. False: not visible. */
bool pidfd_end_zombie(pid_t pid, int *ret);
