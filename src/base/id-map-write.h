/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/id-map.h"

/*
 * newuidmap and newgidmap: the programs that may map ids which are not the caller's own, as /etc/subuid and /etc/subgid
 * grant them.  They are run by their own path, with an empty environment, and are killed if they do not return in time.
 */
#define ID_MAP_NEWUIDMAP "/usr/bin/newuidmap"
#define ID_MAP_NEWGIDMAP "/usr/bin/newgidmap"
#define ID_MAP_WAIT_MS 5000

/* Are both installed, and can they get their privilege here? */
int id_map_require_programs(struct fault *f) _must_check_;

/* Both at once, for the new user namespace of process PID. */
int id_map_write(pid_t pid, const struct id_map *m, struct fault *f) _must_check_;

/* One of them that runs: its time began with the start. */
struct id_map_helper {
	const char *program;
	pid_t pid;
	int pidfd, err; /* ERR: its stderr */
	uint64_t end_ns;
};
#define ID_MAP_HELPER_NONE ((struct id_map_helper){ .pid = -1, .pidfd = -EBADF, .err = -EBADF })

/* ARGS[0] is its name and is not looked up. */
int id_map_start(struct id_map_helper *h, const char *program, char *const args[],
		 struct fault *f) _must_check_;
int id_map_finish(struct id_map_helper *h, struct fault *f) _must_check_;
void id_map_helper_done(struct id_map_helper *h); /* kills it if it runs */
#define _cleanup_id_map_helper_ _cleanup_(id_map_helper_done)
