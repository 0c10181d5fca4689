/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * The line of a profile that would allow a refused call, for people: NAME returned ERR.  DENIED: the profile's list
 * seccomp.deny has it.  CAPABLE: commands keep capabilities.  Pure; heap, NULL on ENOMEM.
 */
char *trace_advise(const char *name, int err, bool denied, bool capable);
