/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/capture-batch.h"
#include "capture/capture.h"
#include "capture/manifest.h"

/*
 * Threads that open, copy and hash files while the walker continues; they also write the lines of the manifest.  The
 * walker passes names in batches; an idle thread takes the next batch.
 */
struct capture_pool;

int capture_pool_new(int outfd, const struct capture_options *o, struct capture_pool **ret,
		     struct fault *f) _must_check_;
/* Moves the contents of B to the queue; B is empty afterwards. */
int capture_pool_put(struct capture_pool *p, struct capture_batch *b, struct fault *f) _must_check_;
/* B is large enough to be queued before its directory ends. */
bool capture_pool_is_full_batch(const struct capture_pool *p, const struct capture_batch *b);
/* Writes the line of an entry without data; the caller keeps E. */
int capture_pool_add_entry(struct capture_pool *p, const struct manifest_entry *e,
			   struct fault *f) _must_check_;
/* Bytes of the manifest so far. */
uint64_t capture_pool_manifest_size(struct capture_pool *p);

/* Waits for all threads and closes the manifest.  The caller still frees P. */
int capture_pool_finish(struct capture_pool *p, struct capture_stats *ret, struct fault *f) _must_check_;
void capture_pool_free(struct capture_pool *p);
DEFINE_CLEANUP(struct capture_pool, capture_pool_free)
#define _cleanup_capture_pool_ _cleanup_(capture_pool_freep)
