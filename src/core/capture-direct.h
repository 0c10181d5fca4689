/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Writes a large file past the page cache, a few pieces at once, while the next piece is read and hashed.  Nobody reads evidence soon:
 * its pages would push out somebody else's, and getting them costs more than the hash.  Belongs to one thread.
 */
#define CAPTURE_DIRECT_STEP ((size_t)384 * 1024)   /* as much as most disks take in one go */
#define CAPTURE_DIRECT_MIN ((uint64_t)1024 * 1024) /* of a file for which this pays */

struct capture_direct;

/* NULL where the kernel or the memory does not let us: write as ever then. */
struct capture_direct *capture_direct_new(void);
void capture_direct_free(struct capture_direct *d);
DEFINE_CLEANUP(struct capture_direct, capture_direct_free)
#define _cleanup_capture_direct_ _cleanup_(capture_direct_freep)

/* FD is empty and will get about SIZE bytes.  1, or 0: FD cannot be written this way, and is as it was. */
int capture_direct_begin(struct capture_direct *d, int fd, uint64_t size, struct fault *f) _must_check_;
/* CAPTURE_DIRECT_STEP bytes that nobody writes from any more. */
int capture_direct_buffer(struct capture_direct *d, void **ret, struct fault *f) _must_check_;
/* The first LEN bytes of that buffer, behind all before.  Only the last piece may be shorter than CAPTURE_DIRECT_STEP. */
int capture_direct_put(struct capture_direct *d, size_t len, struct fault *f) _must_check_;
/* Waits for what is on its way, and cuts the file to its length.  Needed after an error too. */
int capture_direct_end(struct capture_direct *d, struct fault *f) _must_check_;
