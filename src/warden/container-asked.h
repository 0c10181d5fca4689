/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/json.h"

/*
 * What the configuration of a container asks of its first process, for the comparison with what the kernel reports.  Borrows from
 * the document, which is the text that the runtime gets.
 */
enum container_set {
	CONTAINER_SET_BOUNDING,
	CONTAINER_SET_EFFECTIVE,
	CONTAINER_SET_PERMITTED,
	CONTAINER_SET_INHERITABLE,
	CONTAINER_SET_AMBIENT,
	_CONTAINER_SET_MAX,
};
const char *container_set_name(enum container_set s); /* "bounding", as in config.json */

struct container_asked {
	uint64_t capabilities[_CONTAINER_SET_MAX];
	uid_t uid; /* inside, as the next ones */
	gid_t gid;
	const struct jdoc *groups; /* lists, NULL: empty; as the next ones */
	mode_t umask;
	const struct jdoc *masked, *read_only, *mounts, *devices, *rlimits;
	bool root_read_only, user_namespace, scheduler;
	const char *cwd;
	const char *worktree;		/* inside; NULL: that of CWD */
	int64_t oom_score_adj;		/* 0 unless the configuration has one */
	uint64_t memory, pids;		/* 0: none */
	uint64_t cpu_quota, cpu_period; /* microseconds; quota 0: none */
	unsigned int preserved; /* descriptors from 3 that the engine passes (--preserve-fds, LISTEN_FDS) */
};

/* -EINVAL: a member that the proof needs has the wrong type. */
int container_asked_read(const struct jdoc *config, struct container_asked *ret,
			 struct fault *f) _must_check_;

size_t container_list_len(const struct jdoc *list);
/* Destination of mount I of A; NULL if it has none. */
const char *container_asked_target(const struct container_asked *a, size_t i);
bool container_asked_target_read_only(const struct container_asked *a, size_t i);
