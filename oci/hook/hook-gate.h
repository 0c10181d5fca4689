/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"

/*
 * The gate of a container (layer/init-proto.h): a socket alone on its own read-only file system.  RET_SOCKET listens;
 * RET_DIR is its directory, in which the name can still be removed.
 */
int hook_gate_place(int rootfd, bool rootless, int *ret_socket, int *ret_dir, struct fault *f) _must_check_;
