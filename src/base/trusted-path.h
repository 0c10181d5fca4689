/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * PATH (absolute, links resolved: *RET_REAL, heap) and each directory above it belong to root or the caller, and no other user
 * can write them.  Only the resolved path may be used from then on: a link on the way may be in a directory that others can write.
 */
int trusted_path_resolve(const char *path, char **ret_real, struct fault *f) _must_check_;
