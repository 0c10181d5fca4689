/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"

struct pack;

/*
 * Takes a tree that a stranger made, and may still be changing, into a directory of evidence:
 *
 *	OUT/manifest.ndjson	every path (manifest.h)
 *	OUT/worktree/...	directories and regular files under their own names; nothing else
 *	OUT/odd/NNNNNNNN	files whose name or depth the target could not take
 *
 * What cannot be read or does not fit is an entry with its reason, never the end of the capture.  Memory does not grow with
 * the tree.  On a local target nothing is surely on the disk before the caller has synced.
 */
#define CAPTURE_WORKTREE "worktree"
#define CAPTURE_ODD "odd"
#define CAPTURE_THREADS_MAX 8

struct capture_options {
	unsigned int threads; /* 0: one more than processors, at most 5 */
	uint64_t max_bytes;   /* of data in all; 0: no limit */
	uint64_t max_file;    /* of one file: the rest is cut off and named; 0: no limit */
	uint64_t max_entries; /* there the walk ends; 0: no limit */
	/* Bytes of the manifest: a chain of deep directories costs a path per entry.  There the walk ends; 0: no limit. */
	uint64_t max_manifest;
	uint64_t deadline_ns; /* CLOCK_BOOTTIME; 0: none.  Afterwards everything is named, nothing copied. */
	/*
	 * TREE is the upper layer of an overlay: what was changed, and a device 0:0 for each name that was removed.
	 */
	bool upper;
	char *const *skip; /* paths below the tree whose inside is not looked at; may be NULL */
	/* Who owns the container's files on this host, and whose they are in the manifest. */
	struct capture_ids {
		bool set;
		uint32_t uid_from, uid_to, gid_from, gid_to;
	} ids;
	/* What the target can take (evidence-probe). */
	bool any_names; /* else percent-encoded ones */
	bool sync_each; /* a share tells of its errors only then */
	/*
	 * Not NULL: files go into this archive, one after the other, instead of into worktree/ and odd/, with the names that
	 * they would have there.  One that the archive does not take is the end of the capture.
	 */
	struct pack *pack;
	void (*progress)(void *arg, uint64_t entries, uint64_t bytes); /* may be NULL; from any thread */
	void *arg;
};

struct capture_stats {
	uint64_t entries, files, bytes; /* BYTES of data that were kept */
	uint64_t missing;		/* entries that are not, or not wholly, kept */
	uint64_t unstable;		/* changed while they were read */
	uint64_t manifest_bytes;
	const char *cut_short;	/* why the walk ended before the tree did, or NULL */
	struct digest manifest; /* of manifest.ndjson */
};

/* TREEFD is read, OUTFD is an empty directory of ours. */
int capture_tree(int treefd, int outfd, const struct capture_options *o, struct capture_stats *ret,
		 struct fault *f) _must_check_;
