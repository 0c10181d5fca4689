/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/walk.h"
#include "review/changes.h"
#include "base/tree-at.h"

/* Private to changes*.c: one list in the making. */
struct collect {
	const struct changes_ask *ask;
	struct changes *list;
	struct tree_at base, upper;
	/* The directories that the walk through the layer is in: what of the base is merged into each, by path; NULL: nothing. */
	char **lower;
	bool *whiteouts;
	size_t n_lower, room_lower;
};

struct change *changes_add(struct collect *c, const char *path, enum change_kind kind, struct fault *f);
void changes_fill_side(struct change_side *s, const struct statx *stx);
/* 1: there, 0: nothing there.  A side whose type is a link gets its text. */
int changes_look_base(struct collect *c, const char *path, struct change_side *ret,
		      struct fault *f) _must_check_;
/* What NEW makes of OLD: kind, bytes, moved.  CH->path, new, data are set.  MARK: of a directory that is merged with its own path. */
int changes_judge(struct collect *c, struct change *ch, const struct overlay_xattr *mark,
		  struct fault *f) _must_check_;
/* One entry that cannot be looked at is no reason not to tell of the others; only memory is. */
int changes_set_unknown(struct change *ch, int r, struct fault *f) _must_check_;
bool changes_is_later(const struct collect *c, const struct change_side *s);

/* Everything that the base has at PATH goes; SELF: PATH too, else only what is in it. */
int changes_delete(struct collect *c, const char *path, bool self, struct fault *f) _must_check_;
/* DIR, whose descriptor in the layer is FD, shows what the base has in FROM (NULL: nothing) and not what it has in DIR. */
int changes_shift(struct collect *c, const char *dir, int fd, const char *from, struct fault *f) _must_check_;
