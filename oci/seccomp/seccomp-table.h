/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The filter's action for each system call, by name; the reasons are in docs/design/seccomp.md.
 *
 *	listed as allowed	passes
 *	listed as denied	EPERM, or the process is killed if the profile says `violation: kill`
 *	listed with conditions	the rule whose condition is true, else SECCOMP_ELSE
 *	not listed		ENOSYS, so that a C library falls back to an older call
 */
enum seccomp_verdict {
	SECCOMP_DENY, /* EPERM or kill */
	SECCOMP_ALLOW,
	SECCOMP_NO_FAMILY, /* EAFNOSUPPORT: programs probe for address families */
};

enum seccomp_op {
	SECCOMP_ELSE, /* no other rule of the call matches */
	SECCOMP_EQ,   /* arg == value */
	SECCOMP_MASK, /* (arg & mask) == value */
};

struct seccomp_rule {
	const char *name;
	uint64_t mask, value;
	enum seccomp_verdict verdict;
	enum seccomp_op op;
	unsigned int arg;
	bool no_setid; /* only in the variant that refuses set-id modes; without it the call is simply allowed */
};

extern const char *const seccomp_allowed[]; /* NULL-terminated */
extern const char *const seccomp_denied[];
extern const char *const seccomp_unfilterable[];  /* allowed, but ENOSYS where set-id modes are refused */
extern const struct seccomp_rule seccomp_rules[]; /* grouped by name; ends with a NULL name */

/*
 * SECCOMP_ELSE is passed to libseccomp as "argument 0 >= 0": it tests higher arguments first and, for one argument, equality
 * before order.  A rule with SECCOMP_MASK on argument 0 would be tested after it: such a group has no SECCOMP_ELSE.
 */
#define SECCOMP_ELSE_ARG 0
