/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "capture/manifest.h"

/*
 * Sets mode and time of a restored entry; EXACT: also owner, set-id bits and extended attributes (restore.h).
 */

/* FD: a file or a directory. */
int restore_metadata_set(bool exact, int fd, const struct manifest_entry *e, struct fault *f) _must_check_;
/* The target itself: its owner, mode and access list stay, whatever the manifest names. */
int restore_metadata_set_root(bool exact, int fd, const struct manifest_entry *e,
			      struct fault *f) _must_check_;
/* NAME in DIRFD is not opened: a link, pipe, socket or device. */
int restore_metadata_set_at(bool exact, int dirfd, const char *name, const struct manifest_entry *e,
			    struct fault *f) _must_check_;
