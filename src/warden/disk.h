/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * How much a run has written to its layer.  The file system's free space is asked often, which costs nothing; the
 * layer is walked only when that space has shrunk by enough to matter, or has moved at all for a while.
 */
struct disk_watch {
	const char *dir; /* NULL: nothing to watch; borrowed */
	uint64_t limit;	 /* bytes */
	uint64_t free_at_walk;
	uint64_t size_at_walk;
	unsigned int ticks; /* since the last walk */
};

void disk_watch_init(struct disk_watch *w, const char *dir, uint64_t limit);
/* Is the layer over its limit?  FINAL: the run is over, count it in any case. */
bool disk_watch_exceeds(struct disk_watch *w, bool final);

/* Bytes on disk below DIR, counting stops above MAX. */
uint64_t disk_measure(const char *dir, uint64_t max);
