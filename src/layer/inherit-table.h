/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "layer/layer.h"

/*
 * Everything that a process inherits through fork and execve (execve(2), credentials(7), proc(5)), one row each: the
 * party that sets it, and how it is known. This table is the list that docs/design/layers.md prints, that custody-init
 * proves before it executes the command, and that custody-canary tries again from the command's place.
 */
enum inherit {
	INHERIT_CWD,
	INHERIT_ROOT,
	INHERIT_DESCRIPTORS,
	INHERIT_ENVIRONMENT,
	INHERIT_AUXV,
	INHERIT_UMASK,
	INHERIT_SIGNAL_ACTIONS,
	INHERIT_SIGNAL_MASK,
	INHERIT_PENDING,
	INHERIT_TIMERS,
	INHERIT_PDEATHSIG,
	INHERIT_TERMINAL,
	INHERIT_IDS,
	INHERIT_GROUPS,
	INHERIT_CAPABILITIES,
	INHERIT_SECUREBITS,
	INHERIT_NO_NEW_PRIVS,
	INHERIT_SECCOMP,
	INHERIT_DUMPABLE,
	INHERIT_KEYRINGS,
	INHERIT_RLIMITS,
	INHERIT_NICE,
	INHERIT_SCHEDULING,
	INHERIT_IO_PRIORITY,
	INHERIT_TIMER_SLACK,
	INHERIT_OOM,
	INHERIT_PERSONALITY,
	INHERIT_CGROUP,
	INHERIT_USER_NS,
	INHERIT_PID_NS,
	INHERIT_MOUNT_NS,
	INHERIT_NET_NS,
	INHERIT_IPC_NS,
	INHERIT_UTS_NS,
	INHERIT_TIME_NS,
	_INHERIT_MAX,
};

#define INHERIT_UNPROVEN (-1)

/* Where a row of LAYER_PROCESS is checked. */
enum inherit_where {
	INHERIT_BY_INIT,    /* in init, whose child inherits it */
	INHERIT_BY_COMMAND, /* in init's child, just before it executes the command: nothing is executed else */
	INHERIT_BY_BOTH,
	INHERIT_BY_SUPERVISOR, /* by comparison with its own: inherit_check has no check for it */
};

struct inherit_info {
	const char *name;
	int layer;	    /* the layer whose proof includes it, or INHERIT_UNPROVEN */
	const char *set_by; /* the party, and the value */
	const char *known;  /* the proof; without one, why none is needed or possible */
	const char *test;   /* FILE:TEXT in it, relative to the source tree */
	enum inherit_where where;
};

const struct inherit_info *inherit_info(enum inherit i);
/* Is row I, of LAYER_PROCESS, checked by WHERE? */
bool inherit_is_checked(enum inherit i, enum inherit_where where);

/* Values that are required; of the first two 0: not set. */
struct inherit_asked {
	uint64_t files, file_size;
	int death_signal; /* in the process of the command */
	int dumpable;	  /* 0 in init; 1 in a program that the command may read */
};

/*
 * Resets what the caller of custody or of the runtime passes on and what any process may reset: priorities down to
 * normal, protection from the OOM killer, personality, timer slack, and the limits that would allow to raise priorities.
 * inherit_check finds what could not be reset. Uses no library.
 */
void inherit_reset(void);

/*
 * For a row of LAYER_PROCESS, of the calling process: NULL if it is as required, else a phrase, with the value in
 * *RET_VALUE. STATUS: text of /proc/self/status; NULL is enough for INHERIT_BY_COMMAND. Uses no library.
 */
const char *inherit_check(enum inherit i, const char *status, const struct inherit_asked *asked,
			  long long *ret_value);
