/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/fault.h"
#include "base/id-map.h"

/*
 * A directory below which runs with subordinate ids leave files of these ids.  Its file `ids` has their map from before the first
 * such run until every owner is the caller again: of a session at its end, of a kept home or a sandbox root when it is emptied.
 */
#define FILE_OWNERS_IDS "ids"

/* Writes the map, on the disk when it returns; nothing if the same map is there. */
int file_owners_note(int dir, const struct id_map *ids, struct fault *f) _must_check_;
/* The same with a call less, for a directory that has none: -EEXIST. */
int file_owners_note_new(int dir, const struct id_map *ids, struct fault *f) _must_check_;
/* The noted map; without one RET is not set. */
int file_owners_read(int dir, struct id_map *ret, struct fault *f) _must_check_;
bool file_owners_is_same(const struct id_map *a, const struct id_map *b);
/* Is UID the caller's, or one of the map? */
bool file_owners_is_own(const struct id_map *ids, uid_t uid);
/* Changes the owner of NAME in DIR, of an id in IDS, to the caller. */
int file_owners_take(int dir, const char *name, const struct id_map *ids, struct fault *f) _must_check_;
/* Changes the owner of every file of another id and removes the note; nothing without one. */
int file_owners_return(int dir, struct fault *f) _must_check_;
