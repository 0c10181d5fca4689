/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

/* Selects a program.  Values without allow and deny are the variants that are compiled when custody is built. */
struct seccomp_choice {
	bool no_setid;
	bool kill;			  /* SECCOMP_DENY kills the process */
	char *const *allow, *const *deny; /* of the profile; deny wins */
};

#define SECCOMP_VARIANTS 4
#define SECCOMP_VARIANT(c) (((c)->no_setid ? 1 : 0) | ((c)->kill ? 2 : 0))

bool seccomp_choice_lists(char *const *names, const char *name);

/* Base64 of the BPF program for this machine; heap. */
int seccomp_filter_compile(const struct seccomp_choice *c, char **ret, struct fault *f) _must_check_;
