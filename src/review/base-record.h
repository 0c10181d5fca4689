/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "review/changes.h"

/*
 * The entries of the worktree that an upper changes, as they were when the session ended: device, inode, times, and the
 * file handle of directories.  overlayfs stores no file handle in a user namespace and none of removed entries: only the record
 * distinguishes a directory that the run saw from one that was moved into its place.  A path without an entry was missing.
 *
 * STATE/sessions/ID/base: a line with the number of entries, then the entries, each "TYPE DEV INO CTIME BTIME HANDLE PATH"
 * with a NUL at its end, sorted by path.  docs/design/review.md.
 */
struct base_record;

/*
 * Lists what the upper of ASK changes and writes the record of the base to DIRFD.  An existing one is replaced.  -EACCES:
 * the payload of a user made a part of its upper unreadable.
 */
int base_record_make(const struct changes_ask *ask, int dirfd, struct fault *f) _must_check_;
/* The same in a child process in a user namespace (userns.h), which can read that part. */
int base_record_make_inside(const struct changes_ask *ask, int dirfd, struct fault *f) _must_check_;
/*
 * The same for a continued session, whose upper of ASK is a sum: BASE is the record of its base, BEFORE the base's changes and
 * the time of its start.  What they changed is compared with the worktree that the base saw, not with a later one.  A user
 * gets it in a user namespace.
 */
int base_record_make_continued(const struct changes_ask *ask, const struct changes_ask *before,
			       const struct base_record *base, int dirfd, struct fault *f) _must_check_;
/* Strict.  -ENOENT: the file is missing. */
int base_record_read(int dirfd, struct base_record **ret, struct fault *f) _must_check_;
void base_record_free(struct base_record *b);
DEFINE_CLEANUP(struct base_record, base_record_free)
#define _cleanup_base_record_ _cleanup_(base_record_freep)

/*
 * How the base's entry NOW at PATH differs from the one in the record: static text that completes "it ... the session
 * began", or NULL.  DIRFD and NAME lead to it, for the file handle of a directory.
 */
const char *base_record_compare(const struct base_record *b, const char *path, const struct change_side *now,
				int dirfd, const char *name);
bool base_record_has_directory(const struct base_record *b, const char *path);
bool base_record_has(const struct base_record *b, const char *path);
