/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "state/sandbox-root.h"

/* What lies in a root, as far as it can be read. */
struct sandbox_survey {
	uint64_t entries; /* of any kind */
	uint64_t bytes;	  /* on the disk; a file with two names counts twice */
};

/*
 * Counts what is in the directory FD of R, called NAME there, and refuses with -EBUSY what sandbox_clear would: a mount on
 * it or below.  Added to RET.  Removes nothing.
 */
int sandbox_survey(const struct sandbox_root *r, const char *name, int fd, struct sandbox_survey *ret,
		   struct fault *f) _must_check_;

/*
 * Removes everything in it, and not the directory itself: its inode is part of what was approved.  By descriptors only,
 * never through a link, never across a mount, at any depth; modes of own directories are no obstacle.
 */
int sandbox_clear(const struct sandbox_root *r, const char *name, int fd, struct fault *f) _must_check_;
