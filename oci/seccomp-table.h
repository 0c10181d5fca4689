/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * What the filter says of each system call, by name; the reasons are in docs/design/seccomp.md.
 *
 *	listed as allowed	passes
 *	listed as denied	EPERM, or the process dies when the profile says `violation: kill`
 *	listed with conditions	first rule whose condition holds; the last one always holds
 *	not listed		ENOSYS, so that a C library falls back to an older call
 */
enum seccomp_verdict {
	SECCOMP_DENY, /* EPERM or death */
	SECCOMP_ALLOW,
	SECCOMP_NO_FAMILY, /* EAFNOSUPPORT: programs probe for address families */
};

enum seccomp_op {
	SECCOMP_ELSE, /* always */
	SECCOMP_EQ,   /* arg == value */
	SECCOMP_MASK, /* (arg & mask) == value */
};

struct seccomp_rule {
	const char *name;
	enum seccomp_verdict verdict;
	enum seccomp_op op;
	unsigned int arg;
	uint64_t mask, value;
	bool no_setid; /* only in the variant that refuses set-id modes; without it the call is simply allowed */
};

extern const char *const seccomp_allowed[]; /* NULL-terminated */
extern const char *const seccomp_denied[];
extern const char *const seccomp_unfilterable[]; /* allowed, but ENOSYS where set-id modes are refused */
extern const struct seccomp_rule seccomp_rules[]; /* grouped by name; ends with a NULL name */

/* An argument that no rule looks at: "argument 5 >= 0" is how libseccomp is told "otherwise". */
#define SECCOMP_ELSE_ARG 5
