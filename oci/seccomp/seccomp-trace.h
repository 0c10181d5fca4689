/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/filter.h>

#include "base/fault.h"
#include "subject/subject.h"
#include "trace/trace-advice.h"

/*
 * The filter that asks the observer: custody-init installs it on top of the one of seccomp_encode() and passes its listener to the
 * supervisor.  docs/design/trace.md.
 */
struct seccomp_trace {
	struct sock_filter *insns; /* heap */
	size_t n;
};

/* The filter of S; N 0: nothing is observed. */
int seccomp_trace_program(const struct subject *s, struct seccomp_trace *ret, struct fault *f) _must_check_;
void seccomp_trace_done(struct seccomp_trace *t);
#define _cleanup_seccomp_trace_ _cleanup_(seccomp_trace_done)

/* Which list makes the filter of S refuse the call NAME. */
enum trace_list seccomp_trace_list(const struct subject *s, const char *name);

/* The name of call NR of this machine, "#NR" if it has none; heap, NULL on ENOMEM. */
char *seccomp_call_name(int nr);
