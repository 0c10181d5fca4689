/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "oci/engine/engine-record.h"

/*
 * The start of a governed container: its warden proves the layers, uses the grant up and records the start before libcrun
 * releases the process.
 */
struct engine_start {
	struct engine_record record;
	int call; /* to the warden; -EBADF: not governed */
};
#define ENGINE_START_NONE ((struct engine_start){ .call = -EBADF })

/* DIR is ROOT/ID.  0: it may start, also if it is not governed.  -ENOENT: it has no record. */
int engine_start_ask(const char *dir, struct engine_start *ret, struct fault *f) _must_check_;
/* libcrun has released the process.  -EPIPE: the warden has ended, as it does after the end of the container. */
int engine_start_report(struct engine_start *s, struct fault *f) _must_check_;
void engine_start_done(struct engine_start *s);
#define _cleanup_engine_start_ _cleanup_(engine_start_done)
