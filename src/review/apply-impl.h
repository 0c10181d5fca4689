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

/* It is asked for, and nothing speaks against it. */
static inline bool apply_is_wanted(const struct change *ch)
{
	return ch->picked && !ch->refused;
}

/*
 * What was moved is copied from where it was.  Where something else takes that place before, two directories that changed
 * places for one, it is opened before anything is touched.
 */
int apply_hold_sources(struct apply *a, struct fault *f) _must_check_;
/* A descriptor of what was opened for CH; -ENOENT: nothing was. */
int apply_take_source(struct apply *a, const struct change *ch);
void apply_hold_done(struct apply *a);

/* Where one change happens: a directory of the base, and two names in it. */
struct apply_place {
	int dirfd; /* until the next question to a->base */
	const char *name;
	char temp[APPLY_NAME_SIZE]; /* what it is called on its way */
};

/* How all names of this session's applies begin. */
void apply_name_session(const struct apply *a, char name[APPLY_NAME_SIZE]);
int apply_open_place(struct apply *a, const struct change *ch, struct apply_place *ret,
		     struct fault *f) _must_check_;
/* PLACE->temp is whole: it takes its name, and what had the name is removed. */
int apply_swap(struct apply *a, const struct change *ch, const struct apply_place *p,
	       struct fault *f) _must_check_;
/* What has the name goes, with all that is in it. */
int apply_remove(struct apply *a, const struct change *ch, struct fault *f) _must_check_;
/* A regular file, whole, under the name PLACE->temp. */
int apply_write(struct apply *a, const struct change *ch, const struct apply_place *p,
		struct fault *f) _must_check_;
/* Is ST what CH had found in the base? */
bool apply_is_old(const struct change *ch, const struct stat *st);
