/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Children of this thread, also those that have ended and were not waited for.  At most MAX, and how many. */
size_t process_children(pid_t *ret, size_t max);
/* The same for kernels without CONFIG_PROC_CHILDREN: slower than a process that forks again and again. */
size_t process_children_scan(pid_t *ret, size_t max);
