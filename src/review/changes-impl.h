/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/walk.h"
#include "review/changes.h"
#include "base/tree-at.h"

/* Private to changes*.c: a list while it is collected. */
struct collect {
	const struct changes_ask *ask;
	struct changes *list;
	struct tree_at base, upper;
	/* For each directory on the path of the walk: the directory of the base that is merged into it; NULL: none. */
	char **lower;
	bool *whiteouts;
	size_t n_lower, room_lower;
	uint64_t entries, bytes; /* of the upper, for ask->progress */
	char *missing; /* a directory that the base does not have: nothing in it is looked for; NULL: none */
	size_t *later; /* indexes of files that changes_judge_later compares with the base */
	size_t n_later, room_later;
	char *blocks; /* for the comparison of bytes */
};

void changes_collect_done(struct collect *c);
struct change *changes_add(struct collect *c, const char *path, enum change_kind kind, struct fault *f);
void changes_fill_side(struct change_side *s, const struct statx *stx);
/* 1: exists, 0: missing.  A symbolic link gets its text. */
int changes_look_base(struct collect *c, const char *path, struct change_side *ret,
		      struct fault *f) _must_check_;
/* Sets kind, bytes and conflict from path, new and data.  MARK: attributes of a directory that is merged with its own path, or NULL. */
int changes_judge(struct collect *c, struct change *ch, const struct overlay_xattr *mark,
		  struct fault *f) _must_check_;
/* changes-threads.c: the file that was added last is judged when the upper has been walked, by one of several threads. */
int changes_add_later(struct collect *c, struct fault *f) _must_check_;
int changes_judge_later(struct collect *c, struct fault *f) _must_check_;
/* An unreadable entry becomes CHANGE_UNKNOWN and does not stop the list; only ENOMEM does. */
int changes_add_unknown(struct collect *c, const char *path, int error, const char *why,
			struct fault *f) _must_check_;
int changes_set_unknown(struct change *ch, int r, struct fault *f) _must_check_;
bool changes_is_later(const struct collect *c, const struct change_side *s);
/* Was the directory S of the base moved to this place, or created, while the session ran?  As far as its times tell. */
bool changes_is_moved(const struct collect *c, const struct change_side *s);
/* How the base's entry S at PATH differs from the record of ASK; NULL: not, or no record. */
const char *changes_compare_record(struct collect *c, const char *path, const struct change_side *s);

bool changes_time_is_after(const struct timespec *t, const struct timespec *since);
/* Is PATH in a directory that the base does not have? */
bool changes_is_in_missing(const struct collect *c, const char *path);
/* changes-gone.c: may CH, which the base does not have, be a copy of a file that was removed there while the session ran? */
bool changes_may_be_gone(struct collect *c, const struct change *ch);

/* Lists everything below PATH of the base as deleted; SELF: PATH too. */
int changes_delete(struct collect *c, const char *path, bool self, struct fault *f) _must_check_;
/* DIR, whose descriptor in the upper is FD, shows the base's FROM (NULL: nothing) instead of the base's DIR. */
int changes_shift(struct collect *c, const char *dir, int fd, const char *from, struct fault *f) _must_check_;
