/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "subject/subject.h"

/*
 * The way to what is mounted by its name.  A user's runtime mounts by path, some time after the path was judged: whoever
 * may write a directory on the way can put a link there meanwhile, to a place that only the caller may read, and put
 * things back afterwards.  What was mounted cannot be told from an overlay.  So such directories are watched from before
 * the mounts until GO: a name of ours that was touched, or that means something else by then, refuses the run.
 * Directories that nobody but root and the caller can change are not watched.
 */
struct mount_watch {
	int fd; /* inotify; -EBADF: nothing has to be watched */
	struct mount_watch_step *steps;
	size_t n_steps;
	const struct subject *subject;
	bool rootless;
};
#define MOUNT_WATCH_NONE ((struct mount_watch){ .fd = -EBADF })

/* As root what is given to the container's ids is cloned by descriptor: that is not looked at. */
int mount_watch_open(const struct subject *s, bool rootless, struct mount_watch *ret,
		     struct fault *f) _must_check_;
/* Everything is mounted: was it what was judged, all the time? */
int mount_watch_verify(const struct mount_watch *w, struct fault *f) _must_check_;
void mount_watch_done(struct mount_watch *w);
#define _cleanup_mount_watch_ _cleanup_(mount_watch_done)
