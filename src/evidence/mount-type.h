/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * File system type of a path, from mountinfo only.  The path itself is not touched: a hanging share would block the
 * caller.
 */

/*
 * 1: every mount above PATH is of a local type, or is also above BESIDE; 0: RET_TYPE (heap, may be NULL) is the type of
 * the first that is not.  PATH and BESIDE are normalized; links in them are not resolved.
 */
int mount_type_is_local(const char *path, const char *beside, char **ret_type, struct fault *f) _must_check_;

/* The same for the TEXT of a mountinfo, which is modified. */
int mount_type_decide(char *text, const char *path, const char *beside, char **ret_type,
		      struct fault *f) _must_check_;
