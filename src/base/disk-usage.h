/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Blocks that several trees use on the disk.  A file with names in two trees counts once, for the tree that is measured
 * first; the other trees list it as shared.  Trees may be hostile: the walk follows no link and enters no other mount.
 */
struct disk_usage;

struct disk_usage_size {
	uint64_t entries;
	uint64_t bytes;	 /* of files that no earlier tree has */
	uint64_t shared; /* of files that an earlier tree has, too */
	bool partial;	 /* some entries could not be read */
};

int disk_usage_new(struct disk_usage **ret, struct fault *f) _must_check_;
void disk_usage_free(struct disk_usage *u);
DEFINE_CLEANUP(struct disk_usage, disk_usage_free)
#define _cleanup_disk_usage_ _cleanup_(disk_usage_freep)

/* The directory DIRFD with everything below it. */
int disk_usage_measure(struct disk_usage *u, int dirfd, struct disk_usage_size *ret,
		       struct fault *f) _must_check_;
