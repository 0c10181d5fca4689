/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"

/*
 * Before a process enters a container: closes every descriptor from FIRST that an exec left open, i.e. that the caller
 * leaked (ours are all close-on-exec), and refuses a directory of the host as descriptor 0, 1 or 2.  Those from 3 to FIRST - 1, which
 * the container gets, must be the caller's.
 */
int confine_descriptors(int first, struct fault *f) _must_check_;
