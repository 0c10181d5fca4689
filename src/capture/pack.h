/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/manifest.h"

/*
 * A tree in one file, worktree.tar.zst, for a target where each file costs too much.  custody-pack makes and reads it;
 * here is the other end of its stream.  An entry's `at` is PACK_AT and its name inside.
 */
#define PACK_NAME "worktree.tar.zst"
#define PACK_AT PACK_NAME "/"

struct pack;

/* False: custody-pack is not installed. */
bool pack_is_available(void);

/* --- making one: files one after the other, each with exactly as many bytes as was said ------------------------------------ */
int pack_create(int dirfd, uint64_t deadline_ns, struct pack **ret, struct fault *f) _must_check_;
int pack_put(struct pack *p, const struct manifest_entry *e, const char *name, uint64_t size,
	     struct fault *f) _must_check_;
int pack_data(struct pack *p, const void *bytes, size_t len, struct fault *f) _must_check_;
/* Waits until the target has it: written, synced, closed. */
int pack_finish(struct pack *p, struct fault *f) _must_check_;

/* --- reading one, in its own order ----------------------------------------------------------------------------------------- */
int pack_open(int dirfd, struct pack **ret, struct fault *f) _must_check_;
/* On to the file NAME, 1, or to the end, 0.  What is passed over is counted. */
int pack_find(struct pack *p, const char *name, uint64_t *ret_size, struct fault *f) _must_check_;
/* Bytes of the file that was found; 0 at its end, or where the archive is damaged. */
ssize_t pack_read(struct pack *p, void *buffer, size_t len);
/* To the end.  Files that were not asked for, in all. */
int pack_rest(struct pack *p, uint64_t *ret_strange, struct fault *f) _must_check_;

void pack_free(struct pack *p); /* ends custody-pack when it is still there */
DEFINE_CLEANUP(struct pack, pack_free)
#define _cleanup_pack_ _cleanup_(pack_freep)
