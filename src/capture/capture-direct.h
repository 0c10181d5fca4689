/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Writes a large file with O_DIRECT from a separate thread, while the next chunk is read and hashed.  Evidence is
 * rarely read soon: its pages would evict others, and allocating them costs more than the hash.  Used by one thread.
 * Not AIO: several writes in flight need preallocated blocks that the kernel converts one by one, with the file locked;
 * and destroying the context takes 30 ms.
 */
#define CAPTURE_DIRECT_STEP ((size_t)512 * 1024)
#define CAPTURE_DIRECT_MIN ((uint64_t)1024 * 1024) /* smallest file for which this is faster */

struct capture_direct;

/* NULL: no memory or no thread; the caller then writes through the page cache. */
struct capture_direct *capture_direct_new(void);
void capture_direct_free(struct capture_direct *d);
DEFINE_CLEANUP(struct capture_direct, capture_direct_free)
#define _cleanup_capture_direct_ _cleanup_(capture_direct_freep)

/* FD is empty.  False: O_DIRECT is not supported, FD is unchanged. */
bool capture_direct_begin(struct capture_direct *d, int fd);
/* A free buffer of CAPTURE_DIRECT_STEP bytes. */
int capture_direct_buffer(struct capture_direct *d, void **ret, struct fault *f) _must_check_;
/*
 * Appends the first LEN bytes of that buffer.  Only the last chunk may be shorter than CAPTURE_DIRECT_STEP.  The next
 * call that returns an int reports an error.
 */
void capture_direct_put(struct capture_direct *d, size_t len);
/* Waits for writes in progress and truncates the file to LEN bytes.  Required after an error, too. */
int capture_direct_end(struct capture_direct *d, uint64_t len, struct fault *f) _must_check_;
