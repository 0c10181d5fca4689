/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

/*
 * Moves the calling process out of the cgroup of process PID and of the one above it, a pod's, to the nearest cgroup that takes
 * it: what kills, limits or removes these must not do so to a supervisor.  A process that is not in them stays where it is.
 * Best effort, for each hierarchy: a user may move a process only where the user may write.
 */
void cgroup_leave(pid_t pid);
