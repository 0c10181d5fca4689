/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "base/fault.h"

/*
 * The first process of a container, in a file of the session's run directory.  A user's container may have no cgroup that lists
 * its processes, and the runtime's own state is on a tmpfs that only the creator sees: if creator or supervisor is killed
 * before the container runs, this file names the process that waits.
 */
#define SESSION_PROCESS "process"

int session_process_note(const char *path, pid_t pid, struct fault *f) _must_check_;
/* Kills the process and waits a few seconds for its exit.  No file, or another process with its pid: nothing to do. */
void session_process_kill(int run_fd);
