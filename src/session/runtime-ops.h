/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * The one door from session and warden to a container runtime.  The mains hand in oci/'s implementation;
 * tests hand in a fake.
 */
struct runtime_request {
	const char *id;
	const char *state_root;	   /* directory of the runtime's own state */
	const char *bundle;	   /* working directory while it creates; recorded in hook states */
	const char *config;	   /* config.json as text */
	unsigned int preserve_fds; /* descriptors 3 .. 3+n-1 reach the first process */
	bool hooks;		   /* the config has some */
	bool cgroups;		   /* the runtime makes the cgroup; own runs have made theirs */
};

struct runtime_ops {
	/* In a short-lived child of the supervisor.  After start the first process runs (custody-init, waiting). */
	int (*create)(const struct runtime_request *rq, pid_t *ret_pid, struct fault *f);
	int (*start)(const struct runtime_request *rq, struct fault *f);
	/* In the supervisor itself, last thing before it ends: hooks, then state removed.  FORCE kills first. */
	int (*destroy)(const struct runtime_request *rq, bool force, struct fault *f);
	/*
	 * For containers whose root is the host's: from here on the program runs from a copy that no container can
	 * write to.  May start the program again with the same arguments; to be called before anything was made.
	 */
	int (*guard)(struct fault *f);
	const char *(*version)(void);
};
