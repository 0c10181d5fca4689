/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/sandbox-root.h"
#include "subject/subject.h"

/*
 * Just before the command starts: verifies that PID, its init, is in root R and sees the resolved files.  A
 * replacement since then is detected here; mounts and init's directory cannot be replaced any more.
 */
int subject_prove_root(const struct sandbox_root *r, const struct subject *s, pid_t pid,
		       struct fault *f) _must_check_;
