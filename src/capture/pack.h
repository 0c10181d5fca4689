/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "capture/manifest.h"

/*
 * A tree in one file, worktree.tar.zst, for a target on which creating many files is slow.  custody-pack writes and
 * reads it; this is custody's side of the stream.  `at` of an entry is PACK_AT and its name in the archive.
 */
#define PACK_NAME "worktree.tar.zst"
#define PACK_AT PACK_NAME "/"

struct pack;

/* False: custody-pack is not installed. */
bool pack_is_available(void);

/* --- writing: one file after the other, each with exactly the announced number of bytes ------------------------------------ */
int pack_create(int dirfd, uint64_t deadline_ns, struct pack **ret, struct fault *f) _must_check_;
int pack_put(struct pack *p, const struct manifest_entry *e, const char *name, uint64_t size,
	     struct fault *f) _must_check_;
int pack_data(struct pack *p, const void *bytes, size_t len, struct fault *f) _must_check_;
/* Waits until the archive is written, synced and closed. */
int pack_finish(struct pack *p, struct fault *f) _must_check_;

/* --- reading, in the order of the archive ----------------------------------------------------------------------------------------- */
int pack_open(int dirfd, struct pack **ret, struct fault *f) _must_check_;
/* Skips to the file NAME: 1; to the end: 0.  Skipped files are counted. */
int pack_find(struct pack *p, const char *name, uint64_t *ret_size, struct fault *f) _must_check_;
/* Bytes of the file that was found; 0 at its end, or if the archive is damaged. */
ssize_t pack_read(struct pack *p, void *buffer, size_t len);
/* Reads to the end; RET: number of skipped files. */
int pack_rest(struct pack *p, uint64_t *ret_strange, struct fault *f) _must_check_;

void pack_free(struct pack *p); /* kills custody-pack if it still runs */
DEFINE_CLEANUP(struct pack, pack_free)
#define _cleanup_pack_ _cleanup_(pack_freep)
