/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "layer/init-proto.h"
#include "warden/container-asked.h"

/*
 * What the kernel reports about the first process of a container, read from outside through /proc/PID.  Each part has an errno of its
 * own: a part that could not be read proves nothing.  docs/design/layers.md, "Proofs from outside".
 */
#define CONTAINER_NAME_SIZE 24
#define CONTAINER_EXTENTS_MAX 340 /* what the kernel accepts in one map */

struct container_extent {
	uint64_t inside, outside, count;
};

struct container_map {
	struct container_extent at[CONTAINER_EXTENTS_MAX];
	size_t n;
};

struct container_status {
	int err;
	char name[CONTAINER_NAME_SIZE];
	bool ended;		 /* a zombie */
	uint64_t uid[4], gid[4]; /* as our user namespace counts; likewise GROUPS */
	char *groups;		 /* "5 6", "" */
	uint64_t capabilities[_CONTAINER_SET_MAX];
	uint64_t umask, ignored, no_new_privs, seccomp;
};

struct container_mount {
	uint64_t id;
	char *point, *flags, *tags, *type, *super;
};

/* One path inside, resolved from the container's root. */
struct container_place {
	int err; /* ENOENT: no such path */
	uint64_t mount;
	dev_t dev;
	ino_t ino;
	bool directory, null_device;
	bool empty; /* a directory without entries; looked at for masked paths only */
};

struct container_descriptor {
	unsigned int number;
	bool directory, terminal, closed_at_exec;
	uint64_t mount;
	char *target; /* for messages */
};

struct container_device {
	char *name; /* in /dev */
	mode_t type;
	dev_t number;
};

struct container_limits {
	int err;
	bool foreign;	       /* in another cgroup than this process */
	uint64_t memory, pids; /* lowest of its cgroups; UINT64_MAX: none */
	uint64_t cpu;	       /* microseconds in 100 milliseconds; UINT64_MAX: none */
};

struct container_facts {
	struct container_status status;
	int ns_err;
	uint64_t ns[_INIT_NS_MAX];
	int map_err;
	struct container_map uids, gids;
	bool setgroups_denied;
	int mounts_err;
	struct container_mount *mounts;
	size_t n_mounts;
	int root_err;
	struct container_place root, cwd, asked_cwd, worktree;
	bool cwd_below; /* walking up from the working directory reaches the root */
	struct container_place *masked, *read_only, *targets; /* one for each that is asked */
	int fds_err;
	struct container_descriptor *fds;
	size_t n_fds;
	int devices_err;
	struct container_device *devices;
	size_t n_devices;
	int stat_err;
	pid_t pid, sid;
	int64_t terminal, nice, policy;
	int oom_err;
	int64_t oom_score_adj;
	int dumpable_err;
	uint64_t files_owner; /* of /proc/PID/status */
	char *rlimits;	      /* text of /proc/PID/limits, NULL: not readable */
	struct container_limits limits;
	bool exe_seen;
	dev_t exe_dev;
	ino_t exe_ino;
};

/* Of this process, to compare with. */
struct container_outside {
	uint64_t ns[_INIT_NS_MAX];
	dev_t root_dev;
	ino_t root_ino;
	uint64_t host_uid, host_gid; /* root of the host as we see it: the owner of /proc/version */
	uint64_t no_uid, no_gid;     /* shown for ids without a number here */
};

int container_outside_read(struct container_outside *ret, struct fault *f) _must_check_;

/* Everything.  -ENOMEM only: what cannot be read is noted in its part. */
int container_facts_read(int procfd, const struct container_asked *a, struct container_facts *ret,
			 struct fault *f) _must_check_;
/* /proc/PID/exe, then status, only. */
int container_facts_read_start(int procfd, struct container_facts *ret, struct fault *f) _must_check_;
void container_facts_done(struct container_facts *x);
#define _cleanup_container_facts_ _cleanup_(container_facts_done)

/* Parts that are text only, for tests: the texts of /proc. */
int container_status_parse(const char *text, struct container_status *ret) _must_check_;
int container_map_parse(const char *text, struct container_map *ret) _must_check_;
int container_mounts_parse(const char *text, struct container_facts *x) _must_check_;
int container_stat_parse(const char *text, struct container_facts *x) _must_check_;

/* Parts of container_facts_read, one file each. */
int container_facts_read_mounts(int procfd, const struct container_asked *a,
				struct container_facts *x) _must_check_;
int container_facts_read_descriptors(int procfd, struct container_facts *x) _must_check_;
int container_facts_read_limits(int procfd, struct container_facts *x) _must_check_;
/* NAME below /proc/PID; heap, NUL-terminated.  Negative errno. */
int container_facts_read_text(int procfd, const char *name, char **ret) _must_check_;
