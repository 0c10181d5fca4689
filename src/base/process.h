/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

/*
 * A pid identifies a process only together with its start time (clock ticks since boot): pids are reused. 1
 * and its start; 0: no such process, or a zombie; negative: not known.
 */
int process_start_time(pid_t pid, uint64_t *ret_start) _must_check_;

/*
 * The caller may have left signals ignored, and limits. With ignored SIGCHLD children cannot be waited for; a
 * write beyond RLIMIT_FSIZE must fail with EFBIG and not kill us in the middle of a record.
 */
void process_init_signals(void);
/* Ignores SIGPIPE: if the reader of our output exits, the write fails instead of killing us. */
void process_ignore_sigpipe(void);
/* In a child, before it executes another program: restores default signals. */
void process_restore_signals(void);
/*
 * No core dump of this process and of what it executes.  Limit 1 and not 0: where core_pattern is a pipe, the kernel looks at no
 * limit but this one, and hands the memory of the process to the program there (systemd-coredump, apport).  For a file it is too
 * small as well.
 */
void process_forbid_core(void);
