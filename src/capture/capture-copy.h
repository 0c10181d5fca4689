/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/fault.h"
#include "capture/capture-direct.h"
#include "capture/manifest.h"
#include "capture/pack.h"

/*
 * Copies one open file to another and hashes it: at most SIZE bytes, even if it grows.  On a file system that can share
 * blocks nothing is copied.  A sparse file is stored packed, its extents without the gaps between them: the target need
 * not support holes, and the digest is that of the stored bytes.
 */
#define CAPTURE_BUFFER ((size_t)256 * 1024)

struct capture_copy {
	int in, out;   /* OUT -EBADF: hash only.  Else empty, open for reading and writing. */
	uint64_t size; /* of a file without extents */
	const struct manifest_extent *extents;
	size_t n_extents;
	bool sparse; /* EXTENTS is valid, even if empty */
	bool unpack; /* IN is packed, OUT gets holes; else IN has holes and OUT is packed */
	bool clone;  /* try to share blocks */
	bool local;  /* the times of IN are set by this machine's clock */
	/*
	 * Instead of OUT, or of IN.  An archive must get exactly as many bytes as were announced: unreadable ones are
	 * zeros there and in the digest.
	 */
	struct pack *to_pack, *from_pack;
	void *buffer;		       /* CAPTURE_BUFFER bytes */
	struct capture_direct *direct; /* for a large file; may be NULL */

	/* Results. */
	uint64_t copied; /* bytes of data; fewer than requested: IN was truncated */
	struct digest digest;
	bool cloned;
	bool read_failed; /* else writing OUT failed */

	/* State between the steps. */
	struct sha256_ctx sha;
	int source;		 /* the file being read */
	uint64_t from, to, left; /* offsets in IN and OUT, and bytes left of the file or of one extent */
	size_t next_extent;
	char *piece;
	size_t piece_len;
	bool is_direct, is_short;
	bool at_rest; /* the original of a clone is read; BEFORE: its stat */
	struct statx before;
};

int capture_copy(struct capture_copy *c, struct fault *f) _must_check_;

/* The same in steps, for two files at a time: begin, then read, hash and write each chunk, then end. */
int capture_copy_begin(struct capture_copy *c, struct fault *f) _must_check_;
/* 1: a chunk was read, 0: end. */
int capture_copy_read(struct capture_copy *c, struct fault *f) _must_check_;
void capture_copy_hash(struct capture_copy *c);
void capture_copy_hash_two(struct capture_copy *c,
			   struct capture_copy *d); /* requires digest_two_is_supported */
int capture_copy_write(struct capture_copy *c, struct fault *f) _must_check_;
/* R: result of the last step; returned unless this one fails. */
int capture_copy_end(struct capture_copy *c, int r, struct fault *f) _must_check_;

/* Bytes of data to copy. */
uint64_t capture_copy_wanted(const struct capture_copy *c);

/* Compares size and times; WAS needs no other fields. */
bool capture_is_unchanged(int fd, const struct statx *was);

/*
 * Extents of data in the first SIZE bytes of FD.  *RET (heap) has at most MANIFEST_EXTENTS_MAX; if there are more,
 * small holes count as data.  *RET_SPARSE false: no hole, no list.
 */
int capture_find_extents(int fd, uint64_t size, struct manifest_extent **ret, size_t *ret_n, bool *ret_sparse,
			 struct fault *f) _must_check_;
