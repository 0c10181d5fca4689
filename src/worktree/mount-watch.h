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
struct way {
	int fd; /* inotify; -EBADF: nothing has to be watched */
	struct way_step *steps;
	size_t n_steps;
	const struct subject *subject;
	bool rootless;
};
#define WAY_NONE ((struct way){ .fd = -EBADF })

/* As root what is given to the container's ids is cloned by descriptor: that is not looked at. */
int way_watch(const struct subject *s, bool rootless, struct way *ret, struct fault *f) _must_check_;
/* Everything is mounted: was it what was judged, all the time? */
int way_require_same(const struct way *w, struct fault *f) _must_check_;
void way_done(struct way *w);
#define _cleanup_way_ _cleanup_(way_done)
