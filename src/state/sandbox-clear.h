/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/fault.h"
#include "state/sandbox-root.h"

/* Contents of a root, as far as readable. */
struct sandbox_survey {
	uint64_t entries; /* of any kind */
	uint64_t bytes;	  /* on the disk; a file with two names counts twice */
};

/*
 * Counts the entries of the directory FD of R, named NAME, and adds them to RET. Like sandbox_clear, refuses
 * a mount on or below it with -EBUSY. Removes nothing.
 */
int sandbox_survey(const struct sandbox_root *r, const char *name, int fd, struct sandbox_survey *ret,
		   struct fault *f) _must_check_;

/*
 * Removes its entries, not the directory itself: its inode is part of the approved subject. By descriptors
 * only, never through a link, never across a mount, at any depth; modes of own directories are changed if
 * needed.
 */
int sandbox_clear(const struct sandbox_root *r, const char *name, int fd, struct fault *f) _must_check_;
