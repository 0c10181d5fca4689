/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/dirs.h"

/*
 * The state of a lane names its lane (file `lane`) and its layout (file `version`). Both are written at first
 * use; a mismatch or an unreadable file is refused before anything is written.
 */
#define STATE_VERSION 1
#define STATE_VERSION_NAME "version"
#define STATE_README "README"

/* Opens d->state, created 0700 if missing. Returns a dirfd; -LANE_REFUSED for the other lane's state. */
int state_open(const struct dirs *d, struct fault *f) _must_check_;
int state_open_lane(const char *state, enum lane lane, struct fault *f) _must_check_;
/* The same check without writing: 1 exists and matches, 0 missing. */
int state_require(const struct dirs *d, struct fault *f) _must_check_;

/* First line of a small regular file; 1 with *RET on the heap, 0 if it is missing. */
int state_read_word(int dirfd, const char *name, char **ret, struct fault *f) _must_check_;
