/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Files that were counted already.  Zero-initialised is empty. */
struct inode_set {
	struct inode_slot {
		dev_t dev;
		ino_t ino;
		bool used;
	} * slots;
	size_t n, size; /* SIZE is 0 or a power of two */
};

/* True if it was not in S.  Without memory always true: a file then counts twice rather than not at all. */
bool inode_set_add(struct inode_set *s, dev_t dev, ino_t ino);
void inode_set_done(struct inode_set *s);
