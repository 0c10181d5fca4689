/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "subject/subject.h"

/*
 * Those paths of HIDE that are below the worktree, relative to it: appended to RET.  The masks over them are gone when the
 * container is, so evidence must skip them: it would contain keys, or the store that it is written to.
 */
int subject_hidden_list(const struct subject *s, char *const *hide, char ***ret,
			struct fault *f) _must_check_;
