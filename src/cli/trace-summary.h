/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "state/dirs.h"

/* What a session's own chain says about its observed calls: docs/design/trace.md. */
struct trace_denial {
	char *call, *allow; /* ALLOW: the profile's line, or why no line does; may be NULL */
	uint64_t err, count;
};

struct trace_summary {
	bool found;	    /* the chain exists */
	bool started, over; /* the observation; started and not over: the session runs, or was lost */
	bool denied_seen;   /* refused calls are observed */
	uint64_t
		damaged; /* places where the chain is not intact: records may be missing or be another session's */
	uint64_t next;				/* number of the next record */
	struct digest head;			/* of the one before it */
	uint64_t programs, writes, connections; /* recorded, with repetitions */
	uint64_t lost, gone, unreadable;	/* of the last record */
	struct trace_denial *denied;
	size_t n_denied;
};

/* The session ID of lane D->lane.  A missing chain is no error. */
int trace_summary_read(const struct dirs *d, const char *id, struct trace_summary *ret,
		       struct fault *f) _must_check_;
void trace_summary_put(const struct trace_summary *s, struct jdoc *d); /* as members of D */
void trace_summary_done(struct trace_summary *s);
#define _cleanup_trace_summary_ _cleanup_(trace_summary_done)
