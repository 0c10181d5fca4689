/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/str.h"
#include "cgroup/cgroup.h"
#include "layer/layer.h"
#include "subject/subject.h"

/*
 * The limits that need a cgroup, on a host that gives this user none: their names, what a run may go without, what holds in
 * their place, and the words of refusal and notice.  Sets of limits are LAYER_BIT()s.
 */

#define RUN_LIMITS_ALL \
	(LAYER_BIT(LAYER_MEMORY_LIMIT) | LAYER_BIT(LAYER_PIDS_LIMIT) | LAYER_BIT(LAYER_CPU_LIMIT))

/* For --without: names of limits, separated by commas.  Every other name is refused, with the list of names. */
int run_limits_parse(const char *list, uint32_t *ret, struct fault *f) _must_check_;
int run_limits_check(const char *list, struct fault *f) _must_check_; /* the same as a check of an option */

uint32_t run_limits_missing(const struct cgroup *c); /* of C->missing */
void run_limits_put_names(struct strbuf *b, uint32_t limits, const char *separator);

/*
 * Two command lines that work when pasted; heap, NULL on ENOMEM.  The first is "" where it is of no use: to root, and on a
 * host that has no such cgroups at all.  WORDS: the command line without the program, command first.
 */
char *run_limits_setup_line(bool setup_helps);
char *run_limits_without_line(uint32_t limits, char *const *words);
/* "custody", or its path if root's PATH does not lead to this program. */
char *run_limits_program(void);
/* The path of this program; NULL if it cannot be found, or on ENOMEM. */
char *run_limits_find_program(void);

/* Refuses unless P has every limit that C lacks as optional; RET_REMEDY (heap) then has the lines above, for people. */
int run_limits_require(const struct cgroup *c, const struct profile *p, char *const *words, char **ret_remedy,
		       struct fault *f) _must_check_;

/* Limits of a process that hold in place of the MISSING ones of WANT: 0 where no limit does. */
struct run_limits_instead {
	uint64_t data;	    /* RLIMIT_DATA, of each process */
	uint64_t processes; /* RLIMIT_NPROC, counted in the container's user namespace for each id */
	bool each_id;	    /* the command may take several ids */
};
void run_limits_replace(uint32_t missing, const struct cgroup_limits *want, const struct subject *s,
			struct run_limits_instead *ret);
/* On the container's first process, before it starts another one. */
int run_limits_set(const struct run_limits_instead *l, pid_t pid, struct fault *f) _must_check_;
/* The line about a run without MISSING: printed with --quiet too, because such a run is confined less. */
void run_limits_announce(const struct cgroup *c, const struct run_limits_instead *l, const struct subject *s);
