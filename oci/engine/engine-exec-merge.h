/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/json.h"

/*
 * The process of an `exec`, tightened as the container was: CONTAINER is `process` of its merged configuration.  The system call
 * filter is not in it: libcrun installs the container's.
 *
 * Capabilities: at most the container's bounding set.  rlimits and oom_score_adj: not beyond the container's.  Labels and
 * no_new_privs: the container's.
 */
int engine_exec_merge(const struct jdoc *container, struct jdoc *process, struct fault *f) _must_check_;
