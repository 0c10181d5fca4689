/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "oci/engine/engine-impl.h"

/*
 * The container that holds a pod's namespaces.  It starts without a question, so the annotation that any caller can write is not
 * enough: its command is /pause alone, nothing of the host is mounted, and its filter lets no program do more than wait.
 */
bool engine_pause_is(const struct engine_work *w);

/* After the merge: no capability, a read-only root, and a filter of the calls that waiting needs. */
int engine_pause_confine(struct engine_work *w) _must_check_;
