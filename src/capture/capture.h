/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"

struct pack;

/*
 * Captures a tree that an untrusted payload made, and may still be changing, into a directory of evidence:
 *
 *	OUT/manifest.ndjson	every path (manifest.h)
 *	OUT/worktree/...	directories and regular files under their own names; nothing else
 *	OUT/odd/NNNNNNNN	files whose name or depth the target does not support
 *
 * An entry that cannot be read or exceeds a limit is listed with the reason; it never ends the capture.  Memory use does
 * not grow with the tree.  On a local target nothing is guaranteed to be on disk before the caller syncs.
 */
#define CAPTURE_WORKTREE "worktree"
#define CAPTURE_ODD "odd"
#define CAPTURE_THREADS_MAX 8

struct capture_options {
	unsigned int threads; /* 0: one more than processors, at most 5 */
	uint64_t max_bytes;   /* of all data; 0: no limit */
	uint64_t max_file;    /* of one file: the rest is cut off and recorded; 0: no limit */
	uint64_t max_entries; /* the walk ends there; 0: no limit */
	/* Bytes of the manifest: each entry of a deep tree costs a long path.  The walk ends there; 0: no limit. */
	uint64_t max_manifest;
	uint64_t deadline_ns; /* CLOCK_BOOTTIME; 0: none.  Afterwards entries are listed, but not copied. */
	/* TREE is the upper of an overlay: changed files, and a device 0:0 for each removed name. */
	bool upper;
	char *const *skip; /* paths below the tree whose contents are not read; may be NULL */
	/* Owner of the container's files on this host, and their owner in the manifest. */
	struct capture_ids {
		bool set;
		uint32_t uid_from, uid_to, gid_from, gid_to;
	} ids;
	/*
	 * The upper of an ended run whose files are never written again: no process outside of the container, which is
	 * gone, got a descriptor of it or a way to it.  Its files may become hard links in OUT.  NULL: they are copied.
	 */
	const struct capture_share {
		int upper; /* O_PATH is enough */
	} * share;
	/* Properties of the target (evidence-probe). */
	bool any_names; /* names are not percent-encoded */
	bool sync_each; /* a share reports errors only at fsync */
	/*
	 * Not NULL: files go into this archive instead of worktree/ and odd/, under the same names.  A write error of
	 * the archive ends the capture.
	 */
	struct pack *pack;
	void (*progress)(void *arg, uint64_t entries, uint64_t bytes); /* may be NULL; from any thread */
	void *arg;
};

struct capture_stats {
	uint64_t entries, files, bytes; /* BYTES of stored data */
	uint64_t shared;		/* of BYTES: hard links to the upper */
	uint64_t missing;		/* entries that are not, or not completely, stored */
	uint64_t unstable;		/* changed while they were read */
	uint64_t manifest_bytes;
	const char *cut_short;	/* reason why the walk ended early, or NULL */
	struct digest manifest; /* of manifest.ndjson */
};

/* TREEFD is read; OUTFD is an empty directory of the caller. */
int capture_tree(int treefd, int outfd, const struct capture_options *o, struct capture_stats *ret,
		 struct fault *f) _must_check_;
