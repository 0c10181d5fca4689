/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "review/apply.h"
#include "review/review-judge.h"
#include "base/tree-at.h"

/* Private to apply*.c. */
#define APPLY_NAME_SIZE (sizeof(REVIEW_TEMP) + 24) /* 8 digits for the session, 16 for the path */

/* One complete entry under a temporary name, which waits for the sync of its batch. */
struct apply_pending {
	size_t first, n; /* its change, and how many follow that are in it (a new directory) */
	uint64_t ino;	 /* of the temporary entry */
	bool swapped;	 /* the temporary name is that of the old file now, which is to be removed */
};

struct apply {
	const struct changes *changes;
	const struct apply_ask *ask;
	struct tree_at base, upper;
	struct apply_stats stats;
	struct apply_hold *holds; /* NULL: none */
	size_t n_holds;

	struct apply_pending *pending; /* batch_max of them */
	size_t n_pending, batch_max;
	uint64_t *
		ahead; /* for each change: inode of the temporary file that exists already (1 in TOP), or 0; NULL: none */
	size_t batch_entries; /* of all that is pending, with the content of new directories */
	uint64_t batch_bytes;
	/* A new directory is filled under its temporary name, so that it appears complete.  TOP is its change; NULL: none. */
	const struct change *top;
	int top_fd;
	gid_t gid;	    /* of this process, and of a file that it creates */
	struct tree_at new; /* rooted there */

	bool sync_each; /* syncfs does not reach the disk of this file system */
	bool no_clone;	/* it shares no blocks */
	char *buffer;
	uint64_t entries, bytes; /* written so far, for ask->progress */
	uint64_t told;		 /* entries that the threads have told it */
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

/* The place of one change: a directory, and two names in it. */
struct apply_place {
	int dirfd; /* valid until the next use of a->base or a->new */
	const char *name;
	const char *temp;	    /* name of the new entry until it is complete; NAME in a new directory */
	char room[APPLY_NAME_SIZE]; /* for TEMP */
};

/* Prefix of all temporary names of this session. */
void apply_name_session(const struct apply *a, char name[APPLY_NAME_SIZE]);
int apply_open_place(struct apply *a, const struct change *ch, struct apply_place *ret,
		     struct fault *f) _must_check_;
/*
 * The batch: entries that are complete but for the sync.  apply_batch_add takes over the entry that was created for the change
 * FIRST, and is about to fill the directory DIR if it is one.  apply_batch_flush syncs, then moves each entry to its place;
 * the new directory that is being filled stays.  After a failure apply_batch_done removes the entries that were not moved.
 */
/*
 * As many as most runs change: a file system creates slowly after many removals (ext4 passes over the inodes that were freed a
 * moment ago, one by one), so the old entries of a batch are removed when all new ones exist.
 */
#define APPLY_BATCH_MAX 65536
#define APPLY_BATCH_BYTES ((uint64_t)1024 * 1024 * 1024) /* a worktree must have room for both, old and new */
int apply_batch_init(struct apply *a, struct fault *f) _must_check_;
int apply_batch_add(struct apply *a, size_t first, int dir, struct fault *f) _must_check_;
/* The same for a file that apply_create_ahead has created. */
void apply_batch_add_ahead(struct apply *a, size_t first);
int apply_batch_flush(struct apply *a, struct fault *f) _must_check_;
/* Is it large enough to be flushed?  Never while a new directory is being filled. */
bool apply_batch_is_full(const struct apply *a);
/* The changes from I on are not in the new directory that was being filled, if there is one. */
void apply_batch_leave(struct apply *a, size_t i);
void apply_batch_done(struct apply *a);
/* Only attributes of the entry itself differ: it is changed in place. */
bool apply_is_in_place(const struct change *ch);
/* Is CH in the new directory that is being filled? */
static inline bool apply_is_in_new(const struct apply *a, const struct change *ch)
{
	return a->top && review_is_below(ch->path, a->top->path);
}

/*
 * PLACE->temp, the entry OWN, is complete: moves it to PLACE->name and removes the old entry; an old file is left under the
 * temporary name, *RET_SWAPPED.
 */
int apply_swap(struct apply *a, const struct change *ch, const struct apply_place *p, const struct stat *own,
	       bool *ret_swapped, struct fault *f) _must_check_;

/* apply-threads.c: creates files before the batches begin; what it leaves out is created in its turn. */
int apply_create_ahead(struct apply *a, struct fault *f) _must_check_;
/* Likewise the content of the new directory FIRST, which is being filled. */
int apply_fill_ahead(struct apply *a, size_t first, struct fault *f) _must_check_;
/* Creates the entry under PLACE->temp.  *RET: a new directory, of the caller. */
int apply_create(struct apply *a, const struct change *ch, int *ret, struct fault *f) _must_check_;
/* Removes those that no batch has taken over. */
void apply_drop_ahead(struct apply *a);
/* Removes the old files of the first N pending entries. */
int apply_clear_swapped(struct apply *a, size_t n, struct fault *f) _must_check_;
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
