/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * Is the process of an exec with --cgroup in a cgroup of the container?  libcrun does not move it in a hierarchy of v1 that lacks the
 * named cgroup, and reports nothing: the process would have neither limits nor the rules for devices.
 *
 * Texts of /proc/PID/cgroup, of the caller, the container's first process and PROCESS.  True: in some hierarchy PROCESS is where
 * the caller is, and the container is elsewhere.
 */
bool engine_exec_cgroup_is_outside(const char *caller, const char *first, const char *process);

int engine_exec_cgroup_require(pid_t first, pid_t process, struct fault *f) _must_check_;
