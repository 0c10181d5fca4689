/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

/*
 * A number names a process only together with its start (clock ticks since boot): numbers come back.
 * 1 and its start, 0: no such process that could still start something, negative: not known.
 */
int process_start_time(pid_t pid, uint64_t *ret_start) _must_check_;

/*
 * Whoever started us may have left signals ignored, and limits.  Ignored SIGCHLD makes children vanish unseen; a write
 * beyond the caller's file size limit shall fail with words and not end us in the middle of a record.
 */
void process_init_signals(void);
/* A reader of our output that goes away does not end what we have begun: the write fails instead. */
void process_ignore_sigpipe(void);
/* In a child, before somebody else's program is executed: that one gets the usual. */
void process_restore_signals(void);
