/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"
#include "session/runtime-ops.h"
#include "cgroup/cgroup.h"

/*
 * The short-lived child that creates the container.  The runtime blocks signals, changes rlimits and needs a private
 * mount namespace; the exit of the child undoes all of that. It waits for the supervisor's release before it creates
 * the first process, so that this process starts in the right cgroups.
 */
#define CREATOR_KEEP_FD 17	/* where `prepare` finds keep_fd */
#define CREATOR_KEEP_ALSO_FD 18 /* ... and keep_also */

struct creator_job {
	const struct runtime_ops *ops;
	struct runtime_request rq;
	/* In the child: directories, mounts, config; fills RQ. */
	int (*prepare)(void *arg, struct runtime_request *rq, struct fault *f);
	void *arg;
	const int *stdio;		/* three descriptors for the container */
	int init_fd;			/* the container's end of init's socket */
	const int *keep_fd, *keep_also; /* descriptors of the supervisor for `prepare`; NULL: none */
	const struct cgroup *cgroup;
};

struct creator {
	pid_t pid;
	int fd; /* messages of the child */
	int pidfd; /* readable at its exit, even while its children hold the other end of FD; -EBADF: not available */
	bool cloned_into; /* it was created in its v2 cgroup */
};

int creator_spawn(const struct creator_job *job, struct creator *ret, struct fault *f) _must_check_;
int creator_release(struct creator *c, struct fault *f) _must_check_; /* the cgroups are ready */

/*
 * After C->fd polled readable, or C->pidfd: then it has ENDED and will send nothing more. 1: the container was
 * created, *RET_PID is its first process, which is our child; 0: the creator is done; negative: it failed, F has its
 * reason.
 */
int creator_read(struct creator *c, bool ended, pid_t *ret_pid, struct fault *f) _must_check_;
void creator_done(struct creator *c); /* descriptors */
#define CREATOR_NONE ((struct creator){ .pid = -1, .fd = -EBADF, .pidfd = -EBADF })
