/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * CVE-2019-5736: a process in a container without user namespace may open the executable of the runtime that joins it
 * (/proc/PID/exe) and, once no process runs it, write to it.  So verbs that start a process inside run from a
 * read-only mount of the executable.
 *
 * Returns 0 in a guarded process; otherwise executes PROGRAM (NULL: this program) with ARGV and does not return, or
 * fails.
 */
int runtime_guard_enter(const char *program, char **argv, struct fault *f) _must_check_;
