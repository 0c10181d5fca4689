/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "subject/subject.h"
#include "trace/trace-call.h"

/*
 * The system calls that are observed in an own run of S: enum trace_word.  0 where custody-init cannot install the filter that
 * asks: without custody-init, without the layers `seccomp` and `no-new-privs`, or where the profile denies seccomp itself.
 */
uint32_t subject_traces(const struct subject *s);

/* The list of a profile that has none. */
#define SUBJECT_TRACE_DEFAULT (TRACE_EXEC | TRACE_DENIED)
