/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * A process that exec makes waits before it executes anything, until FN has allowed it: FN runs in the parent with the process's pid
 * and a pidfd of it.  Negative: the process is killed, and exec fails with the text of F.  If the parent is killed meanwhile the
 * process exits.  Set once, before the one call of this process.
 */
typedef int (*hold_fn)(void *arg, pid_t pid, int pidfd, struct fault *f);
void hold_set(hold_fn fn, void *arg);
/* The wait status of the process, if libcrun has waited for it: its own result does not tell a signal from a number. */
bool hold_status(int *ret);

/* For libcrun-confine.c: before the fork; then in each process with PID as libcrun_join_process returned it. */
int hold_begin(struct fault *f) _must_check_;
int hold_end(pid_t pid, struct fault *f) _must_check_;
/* For libcrun-wrap-runtime.c: PID was waited for. */
void hold_waited(pid_t pid, int status);
