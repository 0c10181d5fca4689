/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "base/fault.h"

/*
 * One tool that runs: a process of custody between the broker and the program, which is the parent of every process that the
 * program leaves behind, and kills them when the program exits, when it is told to, and when the broker is gone.
 */
struct broker_process {
	pid_t pid;
	int pidfd;
	int in, out; /* ends of the program's stdin and stdout, non-blocking; -EBADF: closed */
};
#define BROKER_PROCESS_NONE \
	((struct broker_process){ .pid = -1, .pidfd = -EBADF, .in = -EBADF, .out = -EBADF })

int broker_process_start(const char *path, char *const *argv, char *const *env, struct broker_process *ret,
			 struct fault *f) _must_check_;
void broker_process_kill(const struct broker_process *p); /* its tree; PIDFD reports the end */
/* After PIDFD polled readable: the program's exit status, 128 + signal, 126 or 127 if it could not be executed. */
int broker_process_reap(struct broker_process *p);
