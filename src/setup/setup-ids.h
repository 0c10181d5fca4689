/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/fault.h"

/*
 * -EBUSY: a process has a uid or gid of LINE, "OWNER:FIRST:COUNT".  The ids must not be granted to another user, who could
 * signal it, and the files of its run can be returned to OWNER only while they are granted.
 */
int setup_ids_require_unused(const char *line, struct fault *f) _must_check_;
