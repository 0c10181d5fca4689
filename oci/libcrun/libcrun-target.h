/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Targets of mounts in the container's root.  Another container may share the root or a volume in it and exchange its
 * directories while this one is created.
 */

/* From now on each target that libcrun opens again after a mount must be on the new mount; costs a read of mountinfo or more. */
void target_watch(void);

/* libcrun creates a container between these two.  Elsewhere this program itself opens directories as libcrun opens targets. */
void target_begin(void);
void target_end(void);

/* False: no container is being created, or FD is another directory than the one in which targets are opened. */
bool target_is_root(int fd);

/* A target of proc or sysfs: like openat, but no component of PATH may be a link. */
int target_open_plain(int rootfd, const char *path, int flags);

/* A new descriptor of the file system that was mounted on NAME (dev, proc, sys) of the root, or -EBADF: none was watched. */
int target_reopen(int rootfd, const char *name, int flags);
