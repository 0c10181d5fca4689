/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Writes a large file past the page cache, by a thread of its own, while the next piece is read and hashed.  Nobody reads evidence soon:
 * its pages would push out somebody else's, and getting them costs more than the hash.  Belongs to one thread.
 *
 * No AIO: several pieces on their way need blocks beforehand, of which somebody in the kernel has to say piece by piece that they have
 * been written, and the file is locked meanwhile; and the end of a context is waited for, 30 ms.
 */
#define CAPTURE_DIRECT_STEP ((size_t)512 * 1024)
#define CAPTURE_DIRECT_MIN ((uint64_t)1024 * 1024) /* of a file for which this pays */

struct capture_direct;

/* NULL where there is no memory or no thread for it: write as ever then. */
struct capture_direct *capture_direct_new(void);
void capture_direct_free(struct capture_direct *d);
DEFINE_CLEANUP(struct capture_direct, capture_direct_free)
#define _cleanup_capture_direct_ _cleanup_(capture_direct_freep)

/* FD is empty.  False: it cannot be written this way, and is as it was. */
bool capture_direct_begin(struct capture_direct *d, int fd);
/* CAPTURE_DIRECT_STEP bytes that nobody writes from any more. */
int capture_direct_buffer(struct capture_direct *d, void **ret, struct fault *f) _must_check_;
/*
 * The first LEN bytes of that buffer, behind all before.  Only the last piece may be shorter than CAPTURE_DIRECT_STEP.  An error is told
 * by the next call that can tell one.
 */
void capture_direct_put(struct capture_direct *d, size_t len);
/* Waits for what is on its way, and cuts the file to LEN bytes.  Needed after an error too. */
int capture_direct_end(struct capture_direct *d, uint64_t len, struct fault *f) _must_check_;
