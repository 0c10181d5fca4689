/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/* Why a profile's filter refuses a call. */
enum trace_list {
	TRACE_LIST_NONE,      /* every filter does, unless the profile allows it */
	TRACE_LIST_DENY,      /* the profile's list seccomp.deny has it */
	TRACE_LIST_DENY_ALSO, /* both */
};

/*
 * The line of a profile that would allow a refused call, for people: NAME returned ERR.  CAPABLE: commands keep capabilities.
 * Pure; heap, NULL on ENOMEM.
 */
char *trace_advise(const char *name, int err, enum trace_list list, bool capable);
