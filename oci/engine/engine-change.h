/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/* What the merge changed, for people: as subject_diff lists differences, with lists of names in short. */
int engine_change_list(const struct jdoc *engine, const struct jdoc *merged, struct jdoc **ret,
		       struct fault *f) _must_check_;
