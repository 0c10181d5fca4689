/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * How much a run has written to its upper. The file system's free space is read often, which is cheap; the upper is
 * walked only when that space has shrunk by enough to matter, or has changed at all for a while.
 */
struct disk_watch {
	const char *dir;  /* NULL: nothing to watch; borrowed */
	const char *also; /* counted as well: where the overlay's server keeps unlinked files; may be NULL */
	uint64_t limit;	  /* bytes */
	pid_t init;	  /* first process of the run, to find the others */
	uint64_t free_at_start, free_at_walk;
	uint64_t files_at_walk; /* free inodes, as bytes that each counts */
	uint64_t size_at_walk;
	unsigned int ticks; /* since the last walk */
};

void disk_watch_init(struct disk_watch *w, const char *dir, uint64_t limit, pid_t init);
/* Is the upper over its limit? FINAL: the run has ended, walk it in any case. */
bool disk_watch_exceeds(struct disk_watch *w, bool final);

/*
 * Bytes on disk below DIR, counting stops above MAX.  A tree of more than DISK_DEPTH_MAX levels is DISK_TOO_DEEP,
 * which is above every limit.
 */
#define DISK_DEPTH_MAX 256
#define DISK_TOO_DEEP UINT64_MAX
uint64_t disk_measure(const char *dir, uint64_t max);
/* Bytes of unlinked files that processes of INIT's pid namespace hold open in an overlay. */
uint64_t disk_measure_nameless(pid_t init);
