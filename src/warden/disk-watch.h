/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id-map.h"
#include "cgroup/cgroup.h"

struct disk_size {
	uint64_t bytes;
	uint64_t largest; /* st_size of the largest file that was counted */
};

/*
 * How much a run has written to its upper. The file system's free space is read often, which is cheap; the upper is
 * walked only when that space has shrunk by enough to matter, or has changed at all for a while.
 */
struct disk_watch {
	const char *dir;  /* NULL: nothing to watch; borrowed */
	const char *also; /* counted as well: where the overlay's server keeps unlinked files; may be NULL */
	const struct id_map *ids;    /* owners of its files, beside the caller; may be NULL; borrowed */
	uint64_t limit;		     /* bytes */
	pid_t init;		     /* first process of the run, to find the others */
	const struct cgroup *cgroup; /* of the run, to stop it while it is counted; may be NULL; borrowed */
	uint64_t
		free_most; /* largest free space since the start: what others removed hides nothing of the run */
	uint64_t free_at_walk;
	uint64_t files_at_walk; /* free inodes, as bytes that each counts */
	uint64_t size_at_walk;
	uint64_t others;	  /* what other processes of the host wrote, when the run was last stopped */
	uint64_t largest_at_walk; /* size of the largest file */
	bool unexplained;   /* SIZE_AT_WALK is what the file system lost: not all of it could be found */
	unsigned int ticks; /* since the last walk */
	void (*measure)(const char *dir, const struct id_map *ids, uint64_t max,
			struct disk_size *ret); /* one walk; tests replace it */
};

void disk_watch_init(struct disk_watch *w, const char *dir, uint64_t limit, pid_t init);
/* Is the upper over its limit? FINAL: the run has ended, walk it in any case. */
bool disk_watch_exceeds(struct disk_watch *w, bool final);

/*
 * Bytes on disk below DIR, counting stops above MAX.  A file with several names counts once.  A tree of more than
 * DISK_DEPTH_MAX levels is DISK_TOO_DEEP, which is above every limit.  IDS: as in struct disk_watch.
 */
#define DISK_DEPTH_MAX 256
#define DISK_TOO_DEEP UINT64_MAX
void disk_measure(const char *dir, const struct id_map *ids, uint64_t max, struct disk_size *ret);

/* Files without a name that processes of INIT's pid namespace, all of them in C if that is not NULL, hold in an overlay. */
struct disk_nameless {
	uint64_t bytes;
	uint64_t
		written; /* by all processes of the run since its start, exited ones included; not to memory */
	bool hidden;	 /* some are held in a way that does not show their size */
};
void disk_measure_nameless(pid_t init, const struct cgroup *c, struct disk_nameless *ret);
