/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "trace/trace.h"
#include "warden/warden.h"

/* The observer of one run, from the filter to the last record of the session's own chain. */
struct run;

#define RUN_TRACE_BYTES ((uint64_t)8 * 1024 * 1024) /* of records; later ones are only counted */

struct run_trace {
	const struct run *run;	    /* NULL: nothing is observed */
	const struct digest *token; /* of the session's broker, its SHA-256: it is in no record; NULL: none */
	struct trace trace;
	struct warden_side side;
	int filter_fd;
	bool over;
	uint64_t bytes, unrecorded;
};
#define RUN_TRACE_NONE \
	((struct run_trace){ .trace = TRACE_NONE, .side = { .fd = -EBADF }, .filter_fd = -EBADF })

/* The filter, for custody-init. */
int run_trace_open(struct run_trace *t, const struct run *run, struct fault *f) _must_check_;
int run_trace_start(struct run_trace *t, struct fault *f) _must_check_;
/* The first record: the words of audit.trace.  What the session asks then waits in the link. */
void run_trace_begin(struct run_trace *t);
/* The container is over: the last records, before the session's own chain is closed. */
void run_trace_end(struct run_trace *t);
void run_trace_done(struct run_trace *t);
#define _cleanup_run_trace_ _cleanup_(run_trace_done)
