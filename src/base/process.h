/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

/*
 * A number names a process only together with its start (clock ticks since boot): numbers come back.
 * 1 and its start, 0: no such process that could still start something, negative: not known.
 */
int process_look(pid_t pid, uint64_t *ret_start) _must_check_;
