/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/*
 * Where a path lies: the file system of its mount, and the path in that file system.  A bind mount, or a second mount
 * of a disk, gives a directory two names; both have the same place.
 */
struct place {
	const char *fs; /* "254:0"; of the table */
	char *path;
};

struct place_mount {
	const char *fs;
	const char *root;  /* path in the file system that is mounted */
	const char *point; /* where */
};

struct place_table {
	char *text;
	struct place_mount
		*mounts; /* in the order of the kernel: of two mounts at one point the last is on top */
	size_t n_mounts;
};

/* From /proc/self/mountinfo.  An invalid line is an error: it could be the mount of any path. */
int place_table_load(struct place_table *ret, struct fault *f) _must_check_;
/* The same for TEXT, which is copied. */
int place_table_parse(const char *text, struct place_table *ret, struct fault *f) _must_check_;
void place_table_done(struct place_table *t);
#define _cleanup_place_table_ _cleanup_(place_table_done)

/* PATH is absolute, resolved and normalized. */
int place_find(const struct place_table *t, const char *path, struct place *ret,
	       struct fault *f) _must_check_;
void place_done(struct place *p);
#define _cleanup_place_ _cleanup_(place_done)

/* Is P equal to or below PARENT? */
bool place_is_below(const struct place *p, const struct place *parent);
