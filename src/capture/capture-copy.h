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
 * The bytes of one open file to another, hashed on the way: at most SIZE of them, however it grows.  On a file system that
 * can share blocks nothing is copied at all.  A file with holes is kept packed, its extents one behind the other: no
 * target has to know of holes, and the digest is that of the bytes that are kept.
 */
#define CAPTURE_BUFFER ((size_t)256 * 1024)

struct capture_copy {
	int in, out;   /* OUT -EBADF: hash only.  Else empty, open for reading and writing. */
	uint64_t size; /* of the file that has no extents */
	const struct manifest_extent *extents;
	size_t n_extents;
	bool sparse; /* EXTENTS count, also when there are none */
	bool unpack; /* IN is packed, OUT gets holes; else the other way round */
	bool clone;  /* try to share blocks */
	bool local;  /* the times of IN are this machine's */
	/*
	 * Instead of OUT, or of IN: what is announced to an archive must come, so what cannot be read is zeros there, and in
	 * the digest.
	 */
	struct pack *to_pack, *from_pack;
	void *buffer;		       /* CAPTURE_BUFFER bytes */
	struct capture_direct *direct; /* for a large file; may be NULL */

	/* Filled in. */
	uint64_t copied; /* bytes of data; fewer than asked for: it has become shorter */
	struct digest digest;
	bool cloned;
	bool read_failed; /* else it is OUT that failed */

	/* Of the steps. */
	struct sha256_ctx sha;
	int source;		 /* whose bytes are being read */
	uint64_t from, to, left; /* in IN, in OUT, and how many there: of the file, or of one extent */
	size_t next_extent;
	char *piece;
	size_t piece_len;
	bool is_direct, is_short;
	bool at_rest; /* a clone's first file is read, which was like this BEFORE */
	struct statx before;
};

int capture_copy(struct capture_copy *c, struct fault *f) _must_check_;

/* The same in steps, for who has two of them in hand: begin, then read, hash and write each piece, then end. */
int capture_copy_begin(struct capture_copy *c, struct fault *f) _must_check_;
/* 1: there is a piece, 0: no more. */
int capture_copy_read(struct capture_copy *c, struct fault *f) _must_check_;
void capture_copy_hash(struct capture_copy *c);
void capture_copy_hash_two(struct capture_copy *c, struct capture_copy *d); /* where digest_two_is_there */
int capture_copy_write(struct capture_copy *c, struct fault *f) _must_check_;
/* R is what the last step returned; so is what this one does, unless there is something new to say. */
int capture_copy_end(struct capture_copy *c, int r, struct fault *f) _must_check_;

/* Bytes of data that it is asked for. */
uint64_t capture_copy_wanted(const struct capture_copy *c);

/* By its size and times, which are all that WAS needs to have. */
bool capture_is_unchanged(int fd, const struct statx *was);

/*
 * Where data lies in the first SIZE bytes of FD.  *RET (heap) has at most MANIFEST_EXTENTS_MAX; small holes of a file in
 * too many pieces count as data.  *RET_SPARSE false: there is no hole, and no list.
 */
int capture_find_extents(int fd, uint64_t size, struct manifest_extent **ret, size_t *ret_n, bool *ret_sparse,
			 struct fault *f) _must_check_;
