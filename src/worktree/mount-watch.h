/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "subject/subject.h"

/*
 * Watch on the parent directories of mount sources.  A user's runtime mounts by path, some time after the
 * path was checked: a user with write access to a parent directory can place a link there in between, to a
 * directory that only the caller may read, and restore the original afterwards.  In an overlay the mounted
 * source cannot be identified.  So such directories are watched from before the mounts until GO: a changed or
 * replaced name refuses the run.  Directories that only root and the caller can change are not watched, except in a
 * user's sandbox root, where commands of other sessions change them with the caller's id.
 */
struct mount_watch {
	int fd; /* inotify; -EBADF: nothing to watch */
	struct mount_watch_step *steps;
	size_t n_steps;
	const struct subject *subject;
	bool rootless;
};
#define MOUNT_WATCH_NONE ((struct mount_watch){ .fd = -EBADF })

/* As root, sources that get the container's ids are cloned by descriptor and not watched. */
int mount_watch_open(const struct subject *s, bool rootless, struct mount_watch *ret,
		     struct fault *f) _must_check_;
/* After all mounts: fails if a source or parent was replaced since mount_watch_open. */
int mount_watch_verify(const struct mount_watch *w, struct fault *f) _must_check_;
void mount_watch_done(struct mount_watch *w);
#define _cleanup_mount_watch_ _cleanup_(mount_watch_done)
