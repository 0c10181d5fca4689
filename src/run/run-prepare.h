/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "run/run-base.h"
#include "state/dirs.h"
#include "subject/placement.h"
#include "session/runtime-ops.h"
#include "session/session.h"
#include "subject/subject.h"

/*
 * The creator's preparations for the runtime: root, worktree, binds, config.json. Everything is on a private tmpfs that
 * container ids can reach; of a user's run with subordinate ids in the session's own directories.
 */
#define RUN_PREPARE_STATE "crun" /* the runtime's own state, below the bundle */

#define RUN_PREPARE_SERVED "served" /* mount point of fuse-overlayfs, below the bundle */

/* config.json as the runtime got it, in memory that creator and supervisor share.  LEN 0: not created. */
#define SESSION_CONFIG_MAX ((size_t)4 * 1024 * 1024)
struct session_config {
	size_t len;
	char text[SESSION_CONFIG_MAX];
};

struct run_prepare {
	const struct dirs *dirs;
	const struct session *session;
	const struct subject *subject;
	unsigned int terminal; /* bit N: descriptor N is a pty */
	char *mount_point;     /* of the private tmpfs; NULL: none */
	char *upper;	       /* overlay: as the supervisor sees it; else NULL */
	char *repository;      /* directory of the second upper, of the repository; NULL: none */
	char *repository_upper, *repository_work;
	char *work; /* overlay: beside it */
	char *token; /* of the broker, in the supervisor's memory until it is in the container; NULL: no broker */
	const struct run_base *base;   /* of a continued run, borrowed; NULL: none */
	struct session_config *config; /* as the creator passed it to the runtime */
};

int run_prepare_init(struct run_prepare *p, const struct dirs *d, struct session *s,
		     const struct subject *subject, unsigned int terminal, struct fault *f) _must_check_;
void run_prepare_done(struct run_prepare *p);
#define _cleanup_run_prepare_ _cleanup_(run_prepare_done)

/* In the creator (struct creator_job).  ARG is a struct run_prepare; RQ's texts live until the process exits. */
int run_prepare_container(void *arg, struct runtime_request *rq, struct fault *f) _must_check_;

/* config.json for PL; heap. */
int run_prepare_config(const struct subject *s, struct placement *pl, bool pretty, char **ret,
		       struct fault *f) _must_check_;
