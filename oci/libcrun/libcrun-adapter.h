/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "session/runtime-ops.h"

/* runtime_ops on libcrun.  create and start leave signals blocked and rlimits changed: call them in a child only. */
extern const struct runtime_ops adapter_ops;
