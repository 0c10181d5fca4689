/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * Where the state of containers lives.  `--root`, else /run/custody-runtime for whoever owns /run, else a place that
 * follows from the user's id alone: later calls of an engine carry neither HOME nor XDG_RUNTIME_DIR, and CUSTODY_ROOT
 * never moves it.  Absolute; created with mode 0700 by runtime_root_make only.
 *
 * ID (may be NULL) decides between two per-user places: a container is looked for where it was created.
 */
int runtime_root_find(const char *given, const char *id, char **ret, struct fault *f) _must_check_;
int runtime_root_make(const char *root, struct fault *f) _must_check_;

/* An id becomes a directory name, a cgroup name and part of unit names. */
int runtime_id_require(const char *id, struct fault *f) _must_check_;
