/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * What kind of file system a path lies on, by the table of mounts alone.  Nothing of the path is touched: a share that
 * hangs would hang whoever asks it.
 */

/*
 * 1: every mount on the way to PATH is of a kind that answers and tells of errors at once, or is on the way to BESIDE
 * too; 0: RET_TYPE (heap, may be NULL) is the kind of the first that is not.  PATH and BESIDE are normalized; a path with
 * links in it is another question.
 */
int mounts_are_local(const char *path, const char *beside, char **ret_type, struct fault *f) _must_check_;

/* The same for the TEXT of a mountinfo, which is cut to pieces. */
int mounts_judge(char *text, const char *path, const char *beside, char **ret_type,
		 struct fault *f) _must_check_;
