/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/fault.h"
#include "oci/engine/engine-record.h"

/* The end of a governed container's session, together with the runtime's delete: container/container-audit.h. */
struct engine_end {
	struct engine_record record;
	const char *container; /* borrowed */
};
#define ENGINE_END_NONE ((struct engine_end){ .container = NULL })

/* DIR is ROOT/ID, before the container is deleted.  Without a record nothing is waited for. */
void engine_end_begin(const char *dir, const char *container, struct engine_end *ret);
/* The container is deleted. */
int engine_end_wait(const struct engine_end *e, struct fault *f) _must_check_;
void engine_end_done(struct engine_end *e);
#define _cleanup_engine_end_ _cleanup_(engine_end_done)
