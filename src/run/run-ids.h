/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "run/run-plan.h"

/*
 * Which ids the user namespace of a run maps.  Root: a block of its own.  A user: the caller's id alone, or the caller's
 * subordinate ids as well, where they make a difference: the command has another id than 0 inside, or has capabilities.
 *
 * Completes D->subject and D->ids.  Refuses a process.user that needs ids which cannot be mapped.
 */
int run_ids_choose(struct run_plan *d, struct fault *f) _must_check_;

/* Before the first file of another id exists: kept directories, in which files keep their owners, get a note of the ids. */
int run_ids_note(const struct run_plan *d, struct fault *f) _must_check_;
