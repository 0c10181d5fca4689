/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "subject/placement.h"
#include "subject/subject.h"

/*
 * Creates the directory NAME in DIRFD and writes the sealed operands of S into it, owned by the ids that P gives the
 * container.  Creates nothing when S has none to mount (operand_needs_lower).
 */
int bundle_write_operands(int dirfd, const char *name, const struct subject *s, const struct placement *p,
			  struct fault *f) _must_check_;
