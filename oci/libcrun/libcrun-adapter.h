/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "session/runtime-ops.h"

/* libcrun behind the runtime's door.  create and start leave signals blocked and rlimits changed: child only. */
extern const struct runtime_ops adapter_ops;
