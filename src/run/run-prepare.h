/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "state/dirs.h"
#include "subject/placement.h"
#include "session/runtime-ops.h"
#include "session/session.h"
#include "subject/subject.h"

/*
 * What the creator prepares before the runtime is called: root, worktree, binds, config.json.  As root everything is
 * put on a private tmpfs that container ids can reach; as a user the session's own directories serve.
 */
#define RUN_PREPARE_STATE "crun" /* the runtime's own state, below the bundle */

#define RUN_PREPARE_SERVED "served" /* mount point of what fuse-overlayfs makes, below the bundle */

/* config.json as the runtime got it, in memory that creator and supervisor share.  LEN 0: it was not made. */
#define SESSION_CONFIG_MAX ((size_t)4 * 1024 * 1024)
struct session_config {
	size_t len;
	char text[SESSION_CONFIG_MAX];
};

struct run_prepare {
	const struct dirs *dirs;
	const struct session *session;
	const struct subject *subject;
	bool terminal;
	char *mount_point;	       /* root: where the private tmpfs goes */
	char *upper;		       /* overlay: as the supervisor sees it; else NULL */
	char *work;		       /* overlay: beside it */
	struct session_config *config; /* what the creator gave to the runtime */
};

int run_prepare_init(struct run_prepare *p, const struct dirs *d, struct session *s,
		     const struct subject *subject, bool terminal, struct fault *f) _must_check_;
void run_prepare_done(struct run_prepare *p);
#define _cleanup_session_place_ _cleanup_(run_prepare_done)

/* In the creator (struct creator_job).  ARG is a struct run_prepare; RQ's texts live until the process ends. */
int run_prepare_prepare(void *arg, struct runtime_request *rq, struct fault *f) _must_check_;

/* config.json for PL; heap. */
int run_prepare_config(const struct subject *s, struct placement *pl, bool pretty, char **ret,
		       struct fault *f) _must_check_;
