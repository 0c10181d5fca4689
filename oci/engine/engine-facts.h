/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/* Fills W->c->facts, whose network, worktree and binds are as ephemeral as the configuration proves.  OVERLAY: the root is one. */
int engine_facts_fill(struct engine_work *w, bool overlay) _must_check_;
