/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/tree-at.h"
#include "base/walk.h"

/*
 * Copies of entries of an upper.  A payload wrote the entries: a file with holes, or with many names, needs no more space as a
 * copy than it has in the upper.
 */

/* Mode, owner, time of change, and attributes but for the marks of overlayfs.  Attributes that only TO has stay. */
int overlay_copy_metadata(int from, int to, struct fault *f) _must_check_;
/* Removes the attributes that overlay_copy_metadata sets. */
int overlay_copy_clear(int fd, struct fault *f) _must_check_;

/*
 * Copies E, which is no directory, to the same path of OUT, where no entry is.  The copy of a further name of the same file is a
 * link; *COPIES keeps the first names, NULL at the start.  0 also if a regular file is gone.
 */
int overlay_copy_entry(void **copies, struct tree_at *out, const struct walk_entry *e,
		       struct fault *f) _must_check_;
void overlay_copy_forget(void **copies);
