/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "base/fault.h"
#include "oci/runtime/runtime-parent.h"
#include "oci/runtime/runtime-verbs.h"

/*
 * A child that calls libcrun without descriptors of its parent, but for standard streams, those of the container and the log: what
 * libcrun forks must not share the parent's locks.  Its result and its error text come back through shared memory.
 */
struct runtime_apart {
	const struct runtime_job *job;
	int keep;				/* one more descriptor that the child keeps; -EBADF: none */
	int (*run)(void *arg, struct fault *f); /* in the child */
	void *arg;
	struct runtime_parent parent; /* what the child becomes after RUN; RUNTIME_PARENT_NONE: it exits */

	pid_t pid;
	struct apart_report *report;
};

int runtime_apart_begin(struct runtime_apart *a, struct fault *f) _must_check_;
/* Waits for the child; the result of RUN. */
int runtime_apart_wait(struct runtime_apart *a, struct fault *f) _must_check_;
/* The same for a caller that has seen that the child stays as the parent of what it has made. */
int runtime_apart_stay(struct runtime_apart *a);
/* The same for a caller that has waited: WAITED is the child's wait status. */
int runtime_apart_end(struct runtime_apart *a, int waited, struct fault *f) _must_check_;
