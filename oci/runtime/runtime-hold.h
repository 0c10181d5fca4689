/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "oci/runtime/runtime-verbs.h"

/*
 * exec into a governed container: libcrun is called by a child (runtime-apart.h), and the process that it makes waits until STARTED
 * has returned 0.  STARTED runs here, where the decision is.  Signals that this process gets are those of the child.
 */
struct runtime_hold {
	struct runtime_job *job;
	int (*call)(struct runtime_job *job, void *arg, int *ret_status, struct fault *f); /* in the child */
	/* PARENT: of custody-parent, for the warden; -EBADF: the engine becomes the parent.  Borrowed. */
	int (*started)(void *arg, pid_t pid, int pidfd, int parent, struct fault *f);
	void *arg;
	const char *parent; /* the program */
};

int runtime_hold_run(const struct runtime_hold *h, int *ret_status, struct fault *f) _must_check_;
