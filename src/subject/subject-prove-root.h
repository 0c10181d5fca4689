/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/sandbox-root.h"
#include "subject/subject.h"

/*
 * Just before the command starts: PID, its init, stands in the root R and sees what was resolved in it.  Whatever was
 * swapped since shows here, for what is mounted and where init stands cannot be swapped any more.
 */
int subject_prove_root(const struct sandbox_root *r, const struct subject *s, pid_t pid,
		       struct fault *f) _must_check_;
