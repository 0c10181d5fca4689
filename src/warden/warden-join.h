/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "layer/init-proto.h"
#include "warden/warden.h"

/*
 * Supervision of a further command in a running session: the part of warden.h that is left when the container exists.  The
 * session's init forks for it; the child proves its layers, and this process compares and releases it.  docs/design/exec.md.
 */
struct warden_join {
	const struct subject *subject; /* of the command; its layers are the session's */
	const char *id, *digest;
	int client;		   /* connection to the session's supervisor */
	pid_t init;		   /* of the session */
	uint64_t ns[_INIT_NS_MAX]; /* its namespaces */
	uint32_t limits;	   /* LAYER_BIT()s that the supervisor has proven */
	uid_t uid;		   /* of the command, on the host */
	gid_t gid;

	/* When every layer is proven and right before GO.  Negative: nothing is executed. */
	int (*release)(void *arg, pid_t pid, const enum layer_state *layers, struct fault *f);
	/* From the release on; returns in how many ms to call it again, -1: never. */
	int (*tick)(void *arg);
	void *arg;

	int stdio[3];
	struct terminal_plan terminal;
	bool quiet;
};

/* As warden_run.  When it returns, no process of the command is left, unless a process of the session killed its supervisor inside. */
int warden_join(const struct warden_join *j, struct run_result *ret, struct fault *f) _must_check_;
