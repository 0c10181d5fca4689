/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "cgroup/cgroup-host.h"

/*
 * The cgroup of one session: a directory per hierarchy that is used. v1: a child of our own cgroup; v2: a
 * child of our own if its controllers are available, else below /custody at the root of the hierarchy. The
 * supervisor stays outside. Every directory is recorded in the session's directory before it is created, so
 * that a sweep finds it, and its supervisor holds a shared lock on it.
 *
 * Order: open, (clone into clone_fd or attach; enter), limit, prove, counters, kill, remove.
 */
struct cgroup_limits {
	uint64_t memory;      /* bytes, 0 = none */
	uint64_t pids;	      /* 0 = none */
	uint64_t cpu_percent; /* 100 = one core, 0 = none */
};

unsigned int cgroup_controllers(const struct cgroup_limits *l); /* CGROUP_BIT()s of those that are set */

#define CGROUP_NODES_MAX (_CGROUP_CONTROLLER_MAX + 1)

struct cgroup_node {
	char *dir;
	int fd;
	bool v2;
	unsigned int controllers; /* CGROUP_BIT()s whose limits live here */
};

struct cgroup {
	struct cgroup_node nodes[CGROUP_NODES_MAX];
	size_t n_nodes;
	char *leaf;	      /* v2 below a delegated scope: the supervisor's leaf, and */
	char *leaf_parent;    /* its previous cgroup */
	unsigned int missing; /* CGROUP_BIT()s that were requested and are not available */
	bool setup_helps;     /* root can delegate the missing ones: `custody setup` */
	char *why;	      /* for messages: why `missing` is not available */
	bool scope_may_help; /* an ordinary user, and only v2: the user's systemd may delegate the missing ones */
};

struct cgroup_counters {
	uint64_t oom_kills;
	uint64_t pids_refused; /* forks that pids.max refused */
};

/* RUN_FD is the session's directory. Unavailable limits are not an error; they are listed in `missing`. */
int cgroup_open(int run_fd, const char *id, const struct cgroup_limits *want, struct cgroup *ret,
		struct fault *f) _must_check_;
/*
 * The same in S->dir, a scope of systemd that is delegated to this user and holds two processes: HOLDER goes into a leaf of its own,
 * which no limit concerns, and MEMBER into the session's cgroup.  Nothing is `missing` afterwards.
 */
struct cgroup_scope {
	const char *dir;
	pid_t holder, member;
};
int cgroup_open_scope(int run_fd, const char *id, const struct cgroup_scope *s,
		      const struct cgroup_limits *want, struct cgroup *ret, struct fault *f) _must_check_;
/* Puts REASON, for which no scope was given, before C->why. */
int cgroup_blame_scope(struct cgroup *c, const char *reason, struct fault *f) _must_check_;
int cgroup_clone_fd(const struct cgroup *c);	   /* for CLONE_INTO_CGROUP, or -EBADF */
int cgroup_open_processes(const struct cgroup *c); /* its list of processes, one number a line; or -errno */
/*
 * Into the v1 hierarchies, by the process itself and while it has one thread.  Moving oneself by "0" in `tasks` takes
 * no lock on all thread groups of the machine: 0.05 ms instead of the 4-16 ms of an RCU grace period.
 */
int cgroup_enter(const struct cgroup *c, struct fault *f) _must_check_;
/* Moves PID into v2, by the supervisor, if CLONE_INTO_CGROUP was refused. */
int cgroup_attach(const struct cgroup *c, pid_t pid, struct fault *f) _must_check_;
int cgroup_limit(const struct cgroup *c, const struct cgroup_limits *want, struct fault *f) _must_check_;
/* Reads membership and limits back from the kernel; on a mismatch, fails and names the file. */
int cgroup_prove(const struct cgroup *c, const struct cgroup_limits *want, pid_t pid,
		 struct fault *f) _must_check_;
int cgroup_count(const struct cgroup *c, struct cgroup_counters *ret, struct fault *f) _must_check_;
int cgroup_kill(const struct cgroup *c, struct fault *f) _must_check_;
/*
 * Stops every task of C until cgroup_thaw, without a signal that they could notice; waits at most a second for the last one.
 * -ENOENT: v1 alone has no directory of ours for that.
 */
int cgroup_freeze(const struct cgroup *c) _must_check_;
void cgroup_thaw(const struct cgroup *c);
/* After the last process exited; waits for the kernel to report it, at most a few seconds. */
int cgroup_remove(struct cgroup *c, struct fault *f) _must_check_;
void cgroup_done(struct cgroup *c);
#define _cleanup_cgroup_ _cleanup_(cgroup_done)

/*
 * Removes siblings of C that are named for a session, owned by this user, empty, and not locked by a
 * supervisor: the supervisor was killed and its session's directory deleted. Call it while no user waits.
 */
void cgroup_sweep(const struct cgroup *c);
bool cgroup_is_of_session(const char *name); /* "custody-20261116T031500Z-1a2b3c4d" */

/* For session_sweep: kills the processes of, and removes, the cgroups that a dead supervisor recorded. */
int cgroup_release(int run_fd, struct fault *f) _must_check_;
