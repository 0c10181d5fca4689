/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/fault.h"

/*
 * Begins to write out on a local target what was copied, while more is copied: else the disk waits for the processors first and the
 * processors for the disk afterwards.  Promises nothing: who needs it on the disk calls syncfs, and gets the errors.
 */
struct capture_sync;

/* NULL when there is no thread or no descriptor for it: it only takes longer then. */
struct capture_sync *capture_sync_new(int outfd);
/* So much more is in the page cache. */
void capture_sync_add(struct capture_sync *s, uint64_t files, uint64_t bytes);
void capture_sync_free(struct capture_sync *s);
