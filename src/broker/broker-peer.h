/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

/*
 * Which processes are the session's: those in its cgroup, and in the pid namespace of its first process or one below.  A session
 * without one of the two is known by the other; without both it has no broker.
 */
struct broker_peers {
	char **cgroups; /* lines of /proc/PID/cgroup of the first process that name the session's own cgroup */
	uint64_t ns_dev, ns_ino; /* its pid namespace; 0: the host's */
};

struct broker_peers_of {
	pid_t init; /* first process of the session */
	const char *
		cgroup; /* "/NAME", one or more components: the session's own cgroup, in every hierarchy that has it */
	bool pid_shared; /* processes that are not the session's are in its pid namespace, too */
};
int broker_peers_init(struct broker_peers *p, const struct broker_peers_of *of, struct fault *f) _must_check_;
void broker_peers_done(struct broker_peers *p);

/* Is the process that connected FD of the session, and does it still run? */
bool broker_peers_has(const struct broker_peers *p, int fd);

/* For tests: the two parts of the check. */
bool broker_peer_has_cgroup(char *const *lines, const char *text); /* TEXT is /proc/PID/cgroup */
bool broker_peer_is_below(pid_t pid, uint64_t dev, uint64_t ino);
