/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * The directory of the containers' state: `--root`, else /run/custody-runtime for the owner of /run, else a directory that
 * depends on the user's id alone: later calls of an engine have neither HOME nor XDG_RUNTIME_DIR, and CUSTODY_ROOT never moves
 * it.  Absolute; only runtime_root_make creates it, with mode 0700.
 *
 * ID (may be NULL) selects one of two per-user directories: the one in which the container was created.
 */
int runtime_root_find(const char *given, const char *id, char **ret, struct fault *f) _must_check_;
int runtime_root_make(const char *root, struct fault *f) _must_check_;

/* ROOT is missing, or no other user could write into it: the state names processes to signal and hooks to execute. */
int runtime_root_require(const char *root, struct fault *f) _must_check_;

/* PATH as absolute path, from the working directory. */
int runtime_path_from_cwd(const char *path, char **ret, struct fault *f) _must_check_;

/* An id becomes a directory name, a cgroup name and part of unit names. */
int runtime_id_require(const char *id, struct fault *f) _must_check_;
