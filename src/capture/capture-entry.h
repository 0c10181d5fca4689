/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/walk.h"
#include "capture/capture.h"
#include "capture/manifest.h"

/* Fills RET from the walker's stat, without data.  The strings of RET are on the heap. */
int capture_describe(const struct walk_entry *w, const struct capture_options *o, struct manifest_entry *ret,
		     struct fault *f) _must_check_;

/* Extended attributes, ACLs among them, of an open file or directory; or of NAME in DIRFD, which is not followed. */
int capture_xattrs(int fd, struct manifest_entry *e, struct fault *f) _must_check_;
int capture_xattrs_at(int dirfd, const char *name, struct manifest_entry *e, struct fault *f) _must_check_;

/* Sets `why` of E, for instance "EACCES: cannot be opened". */
int capture_set_why(struct manifest_entry *e, int error, const char *why, struct fault *f) _must_check_;

/*
 * NAME for a target without case or special characters: everything but letters, digits and "._-+=@,()" is
 * percent-encoded, also a final dot or space and the reserved names of DOS.  Heap; NULL on ENOMEM.
 */
char *capture_encode_name(const char *name);
