/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * The kernel's own record of a process that the system call filter killed: audit message 1326 in the kernel log.  The
 * signal number alone does not show it, because every process can send SIGSYS to itself.  Needs a kernel with audit, a
 * log that this process may read, and no auditd that takes the messages; else nothing is ever found.
 */

/* Descriptor of the log, positioned at its end; negative: it cannot be read. */
int filter_record_open(void);

/* Has a process of uids FIRST .. FIRST + N - 1 been killed since?  Reads to the end of the log. */
bool filter_record_find(int fd, uid_t first, unsigned int n);
