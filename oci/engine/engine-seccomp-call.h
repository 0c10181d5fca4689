/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>

#include "base/fault.h"
#include "oci/seccomp/seccomp-filter.h"
#include "oci/seccomp/seccomp-table.h"

/* What custody's filter says of a system call by its name, in a container without custody-init. */
enum engine_call {
	ENGINE_CALL_UNLISTED,
	ENGINE_CALL_DENIED,
	ENGINE_CALL_CONDITIONS, /* its rules decide by arguments */
	ENGINE_CALL_ALLOWED,
};

struct engine_calls {
	const struct seccomp_choice *choice;
	const char **names; /* allowed ones, sorted */
	size_t n;
};

int engine_calls_init(struct engine_calls *c, const struct seccomp_choice *choice,
		      struct fault *f) _must_check_;
void engine_calls_done(struct engine_calls *c);
#define _cleanup_engine_calls_ _cleanup_(engine_calls_done)

enum engine_call engine_call_of(const struct engine_calls *c, const char *name);
/* The rules of NAME, which decide: seccomp_rules[] from *AT on; NULL past the last. */
const struct seccomp_rule *engine_call_rule(const char *name, size_t *at);
