/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/fault.h"
#include "capture/capture.h"
#include "state/dirs.h"
#include "worktree/overlay-xattr.h"

/*
 * A layer of changes that outlived its session: STATE/sessions/ID/u, and layer.json beside it with what a review must know.
 * It stays until it is applied, discarded or expires.  Whoever does something to it holds the flock of STATE/sessions/ID.
 */
#define SESSION_UPPER_FILE "layer.json"
#define SESSION_UPPER_DIR "u"

struct session_upper {
	char session[SESSION_ID_SIZE];
	char *worktree;		/* host path, resolved */
	uint64_t device, inode; /* of the worktree then */
	enum overlay_xattr_place notes;
	bool rootless;
	struct capture_ids ids; /* of the layer's files */
	uint64_t since_us;	/* wall clock: what of the worktree changed later was not seen */
	uint64_t ended_us;
	char boot[9];	/* never synced: of another boot it may not be whole */
	uint64_t bytes; /* on the disk */
	char **protect; /* relative paths that apply leaves alone */
};

void session_upper_done(struct session_upper *k);
#define _cleanup_session_upper_ _cleanup_(session_upper_done)

/* DIRFD is STATE/sessions/ID, a directory of ours.  Not synced. */
int session_upper_write(int dirfd, const struct session_upper *k, struct fault *f) _must_check_;
/* Strict.  -ENOENT: nothing is kept. */
int session_upper_read(int dirfd, struct session_upper *ret, struct fault *f) _must_check_;

/* Bytes on the disk, 4 KiB for each entry at least. */
int session_upper_measure(int layer, uint64_t *ret, struct fault *f) _must_check_;
/* The layer and what is told of it; the rest of DIRFD stays. */
int session_upper_remove(int dirfd, struct fault *f) _must_check_;
/* STATE/sessions/ID with its lock, or -EBUSY. */
int session_upper_lock(const struct dirs *d, const char *id, struct fault *f) _must_check_;

struct session_upper_list {
	struct session_upper *items; /* oldest first */
	size_t n, room;
};
int session_upper_list(const struct dirs *d, struct session_upper_list *ret, struct fault *f) _must_check_;
void session_upper_list_done(struct session_upper_list *l);
#define _cleanup_session_upper_list_ _cleanup_(session_upper_list_done)

/* Who goes: V[i] is "too-old", "over-quota" or NULL.  Pure.  KEEP (may be NULL) stays whatever happens. */
void session_upper_judge(const struct session_upper_list *l, uint64_t now_us, uint64_t days, uint64_t quota,
			 const char *keep, const char **v);
