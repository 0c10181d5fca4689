/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/capture-batch.h"
#include "capture/capture.h"
#include "capture/manifest.h"

/*
 * Threads that open and copy files while the walker goes on, and the one place where manifest lines come together.  The walker
 * hands over names; whoever is free opens, copies, hashes and tells.
 */
struct capture_pool;

int capture_pool_new(int outfd, const struct capture_options *o, struct capture_pool **ret,
		     struct fault *f) _must_check_;
/* Takes what is in B, which is empty then. */
int capture_pool_put(struct capture_pool *p, struct capture_batch *b, struct fault *f) _must_check_;
/* Should B be handed over before its directory ends? */
bool capture_pool_is_full_batch(const struct capture_pool *p, const struct capture_batch *b);
/* A line without data; E stays the caller's. */
int capture_pool_add_entry(struct capture_pool *p, const struct manifest_entry *e,
			   struct fault *f) _must_check_;
/* Bytes of the manifest so far. */
uint64_t capture_pool_manifest_size(struct capture_pool *p);

/* Waits for everything, closes the manifest.  Then free it. */
int capture_pool_finish(struct capture_pool *p, struct capture_stats *ret, struct fault *f) _must_check_;
void capture_pool_free(struct capture_pool *p);
DEFINE_CLEANUP(struct capture_pool, capture_pool_free)
#define _cleanup_capture_pool_ _cleanup_(capture_pool_freep)
