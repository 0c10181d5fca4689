/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

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
/* One of them; ARGS[0] is its name and is not looked up. */
int id_map_run(const char *program, char *const args[], struct fault *f) _must_check_;
