/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "review/apply.h"
#include "review/review-judge.h"
#include "base/tree-at.h"

/* Private to apply*.c. */
#define APPLY_NAME_SIZE (sizeof(REVIEW_TEMP) + 16) /* 8 digits for the session, 8 for the path */

struct apply {
	const struct changes *changes;
	const struct apply_ask *ask;
	struct tree_at base, upper;
	struct apply_stats stats;
	struct apply_hold *holds; /* NULL: none */
	size_t n_holds;
};

/* Selected by the caller and not refused. */
static inline bool apply_is_wanted(const struct change *ch)
{
	return ch->picked && !ch->refused;
}

/*
 * A moved file is copied from its old path in the base.  If another change of this apply overwrites that path first (two
 * directories that were exchanged, for example), it is opened here, before anything is changed.
 */
int apply_hold_sources(struct apply *a, struct fault *f) _must_check_;
/* The descriptor that apply_hold_sources opened for CH, or -ENOENT. */
int apply_take_source(struct apply *a, const struct change *ch);
void apply_hold_done(struct apply *a);

/* The place of one change: a directory of the base, and two names in it. */
struct apply_place {
	int dirfd; /* valid until the next use of a->base */
	const char *name;
	char temp[APPLY_NAME_SIZE]; /* name of the new entry until it is complete */
};

/* Prefix of all temporary names of this session. */
void apply_name_session(const struct apply *a, char name[APPLY_NAME_SIZE]);
int apply_open_place(struct apply *a, const struct change *ch, struct apply_place *ret,
		     struct fault *f) _must_check_;
/* PLACE->temp is complete: moves it to PLACE->name and removes the old entry. */
int apply_swap(struct apply *a, const struct change *ch, const struct apply_place *p,
	       struct fault *f) _must_check_;
/* Removes the entry, a directory with its content. */
int apply_remove(struct apply *a, const struct change *ch, struct fault *f) _must_check_;
/* Writes a complete regular file as PLACE->temp. */
int apply_write(struct apply *a, const struct change *ch, const struct apply_place *p,
		struct fault *f) _must_check_;
/*
 * Gives the descriptor TO the user.* attributes of the new entry: those of the upper, or of its source IN (-EBADF: opened
 * here) if it was moved and the upper has no entry.
 */
int apply_attributes(struct apply *a, const struct change *ch, int in, int to, struct fault *f) _must_check_;
/* Removes NAME, which apply made or moved aside, with its content. */
int apply_clear(const struct apply *a, int dirfd, const char *name, struct fault *f) _must_check_;
/* Is ST the entry of the base that CH was compared with? */
bool apply_is_old(const struct change *ch, const struct stat *st);
