/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * The directory of a container in the v2 hierarchy that a hybrid host mounts beside the controllers of v1.  libcrun creates it
 * with those of v1, but removes only those.
 */

/* CGROUP is the container's path in each hierarchy.  Heap; NULL: the host is not hybrid, or there is no such directory. */
char *unified_dir_find(const char *cgroup);
/* Once the processes have ended; the last one may need a moment to leave it. */
void unified_dir_remove(const char *dir);
