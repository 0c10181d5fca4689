/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "session/runtime-ops.h"
#include "cgroup/cgroup.h"

/*
 * The short-lived child that makes the container.  The runtime blocks signals, changes rlimits and needs a private
 * mount namespace; a child that ends takes all of it along.  It waits for the supervisor's word before it makes the
 * first process, so that this one is born into the right cgroups.
 */
#define CREATOR_KEEP_FD 17 /* where `prepare` finds keep_fd */

struct creator_job {
	const struct runtime_ops *ops;
	struct runtime_request rq;
	/* In the child: directories, mounts, config; fills RQ. */
	int (*prepare)(void *arg, struct runtime_request *rq, struct fault *f);
	void *arg;
	const int *stdio;   /* three descriptors for the container */
	int init_fd;	    /* the container's end of init's socket */
	const int *keep_fd; /* of the supervisor's, for `prepare`; NULL: none */
	const struct cgroup *cgroup;
};

struct creator {
	pid_t pid;
	int fd;	   /* messages of the child */
	int pidfd; /* tells its end, also when what it made holds the other end of FD; -EBADF: not to be had */
	bool cloned_into; /* it was born into its v2 cgroup */
};

int creator_spawn(const struct creator_job *job, struct creator *ret, struct fault *f) _must_check_;
int creator_release(struct creator *c, struct fault *f) _must_check_; /* the cgroups are ready */

/*
 * After C->fd polled readable, or C->pidfd: then it has ENDED, and what it did not say it will not say any more.  1: the
 * container was made, *RET_PID is its first process, which is our child; 0: the creator is done; negative: it failed and
 * said why.
 */
int creator_read(struct creator *c, bool ended, pid_t *ret_pid, struct fault *f) _must_check_;
void creator_done(struct creator *c); /* descriptors */
#define CREATOR_NONE ((struct creator){ .pid = -1, .fd = -EBADF, .pidfd = -EBADF })
