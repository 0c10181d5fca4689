/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* Selects a program.  Values without allow and deny are the variants that are compiled when custody is built. */
struct seccomp_choice {
	bool no_setid;
	bool kill;   /* SECCOMP_DENY kills the process */
	bool notify; /* else SECCOMP_DENY asks the observer, but never for a call that it lets pass */
	char *const *allow, *const *deny; /* of the profile; deny wins */
	uint32_t arch;			  /* libseccomp's number of the architecture; 0: this machine's */
};

#define SECCOMP_VARIANTS 4
#define SECCOMP_VARIANT(c) (((c)->no_setid ? 1 : 0) | ((c)->kill ? 2 : 0))

/* Programs that notify, by no_setid; the others do not. */
#define SECCOMP_NOTIFIED 2

bool seccomp_choice_lists(char *const *names, const char *name);
uint32_t seccomp_choice_arch(const struct seccomp_choice *c);
bool seccomp_choice_has_call(const struct seccomp_choice *c,
			     const char *name); /* that architecture has the call */

/* Base64 of the BPF program for the architecture of C; heap. */
int seccomp_filter_compile(const struct seccomp_choice *c, char **ret, struct fault *f) _must_check_;
