/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "state/lane.h"

/*
 * Which lane an entry of a version-0 tree belongs to. From its name (test_NAME, prod_NAME; pointers also
 * test.NAME), or from a stamp inside: a file `lane` or metadata.json in a directory, a key `lane` or
 * `network` in a JSON file.
 */
enum migrate_stamp {
	MIGRATE_STAMP_NONE,
	MIGRATE_STAMP_FOUND,
	MIGRATE_STAMP_ODD, /* unreadable, or not a lane */
};

/* The rest of NAME behind its prefix, *RET filled; NULL: no prefix. */
const char *migrate_prefix(const char *name, bool pointer, enum lane *ret);
/* Reads NAME in DIRFD, a regular file or a directory. */
enum migrate_stamp migrate_read_stamp(int dirfd, const char *name, bool directory, enum lane *ret);
