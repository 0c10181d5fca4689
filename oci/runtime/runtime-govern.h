/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "oci/engine/engine-gate.h"
#include "oci/runtime/runtime-verbs.h"

/* The verbs on a container whose session has a custody-warden; on others they are those of libcrun. */

/*
 * runtime_create in a child, which has none of this process's locks and sockets: the container's first process would share
 * them until it is started.  Then the warden is told about it; a container that it does not supervise is deleted.
 */
int runtime_create_supervised(struct runtime_job *job, struct engine_gate *gate,
			      struct fault *f) _must_check_;

/* Refused, and the container killed, if its record is missing, its warden is gone or does not allow it. */
int runtime_start_governed(struct runtime_job *job, struct fault *f) _must_check_;

/* Then waits up to 2 s until the warden has recorded the end. */
int runtime_delete_governed(const struct runtime_call *c, bool force, struct fault *f) _must_check_;
