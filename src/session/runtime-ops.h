/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * The only interface from session and warden to a container runtime. The main programs pass the implementation
 * of oci/; tests pass a fake.
 */
struct runtime_request {
	const char *id;
	const char *state_root;	  /* directory of the runtime's own state */
	const char *bundle;	  /* working directory during create; recorded in hook states */
	const char *config;	  /* config.json as text */
	const char *process_file; /* gets the first process (session-process.h); NULL: none */
	const char *const *
		sources; /* resolved paths that are mounted nosuid, nodev and without following a link; NULL: none */
	unsigned int preserve_fds; /* the first process inherits descriptors 3 .. 3+n-1 */
	bool hooks;		   /* the config has hooks */
	bool cgroups; /* the runtime creates the cgroup; custody's own runs create theirs before */
};

struct runtime_ops {
	/* Runs in a short-lived child of the supervisor. After start the first process runs (custody-init, waiting). */
	int (*create)(const struct runtime_request *rq, pid_t *ret_pid, struct fault *f);
	int (*start)(const struct runtime_request *rq, struct fault *f);
	/* Runs in the supervisor just before it exits: runs hooks, then removes state. FORCE kills first. */
	int (*destroy)(const struct runtime_request *rq, bool force, struct fault *f);
	/*
	 * For containers whose root is the host's: after it the program runs from a copy that no container can
	 * write to. May re-execute the program with the same arguments; call it before anything is created.
	 */
	int (*guard)(struct fault *f);
	const char *(*version)(void);
};
