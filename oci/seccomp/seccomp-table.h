/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * What the filter says of each system call, by name; the reasons are in docs/design/seccomp.md.
 *
 *	listed as allowed	passes
 *	listed as denied	EPERM, or the process dies when the profile says `violation: kill`
 *	listed with conditions	the rule whose condition holds, else the one for the rest
 *	not listed		ENOSYS, so that a C library falls back to an older call
 */
enum seccomp_verdict {
	SECCOMP_DENY, /* EPERM or death */
	SECCOMP_ALLOW,
	SECCOMP_NO_FAMILY, /* EAFNOSUPPORT: programs probe for address families */
};

enum seccomp_op {
	SECCOMP_ELSE, /* no other rule of the call holds */
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
 * libseccomp is told "otherwise" as "argument 0 >= 0": it asks higher arguments first and, of one argument, equality
 * before order.  A rule with SECCOMP_MASK on argument 0 would come after it: such a group has no "otherwise".
 */
#define SECCOMP_ELSE_ARG 0
