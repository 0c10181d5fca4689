/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

#include "base/fault.h"

/*
 * Starts writeback on a local target while more files are copied, so that disk and processors work concurrently.  No
 * guarantee: the caller calls syncfs afterwards and gets the errors.
 */
struct capture_sync;

/* NULL: no thread or no descriptor; the capture is only slower then. */
struct capture_sync *capture_sync_new(int outfd);
/* Adds to the count of bytes in the page cache. */
void capture_sync_add(struct capture_sync *s, uint64_t files, uint64_t bytes);
void capture_sync_free(struct capture_sync *s);
