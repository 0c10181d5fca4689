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
 * The kept upper of an ended session: STATE/sessions/ID/u, and layer.json beside it with the data for a review. It is
 * kept until it is applied, discarded or expired. A process that reviews or removes it holds the flock of
 * STATE/sessions/ID.
 */
#define SESSION_UPPER_FILE "layer.json"
#define SESSION_UPPER_DIR "u"
#define SESSION_REPOSITORY \
	"git" /* beside it: the same three for the repository, if it is another directory than the worktree */
#define SESSION_UPPER_BASE "base" /* the worktree's entries that it changes: review/base-record.h */
#define SESSION_UPPER_SUM "s"	  /* of a continued session: session-sum.h */

#define SESSION_UPPER_ASK_DELETIONS 10 /* of an upper that an older version kept */

struct session_upper {
	char session[SESSION_ID_SIZE];
	char *worktree;		/* host path, resolved */
	uint64_t device, inode; /* of the worktree at the start */
	enum overlay_xattr_place notes;
	bool rootless;
	struct capture_ids ids; /* of the files in the upper */
	uint64_t since_us; /* wall clock: a worktree file with a later ctime changed after the run began */
	uint64_t ended_us;
	char boot[9];	     /* the upper is never synced: after a reboot it may be incomplete */
	uint64_t bytes;	     /* disk usage */
	char **protect;	     /* relative paths that apply does not change */
	char **ask, **allow; /* names for which apply asks, and does not: review/review-ask.h */
	uint64_t ask_deletions;
	char **chain; /* sessions that this one continues, its base first; NULL: none, it began on the worktree */
	char *own; /* of a repository: the part of this linked worktree, "worktrees/NAME", or ""; else NULL */
	bool shared; /* evidence has a hard link to each file; known at the end of the run, not in the file */
	uint64_t files; /* entries that are no directories; measured at the end of the run, not in the file */
};

void session_upper_done(struct session_upper *k);
#define _cleanup_session_upper_ _cleanup_(session_upper_done)

/* DIRFD is STATE/sessions/ID, owned by the caller. Not synced. */
int session_upper_write(int dirfd, const struct session_upper *k, struct fault *f) _must_check_;
/* Strict. -ENOENT: no upper is kept. */
int session_upper_read(int dirfd, struct session_upper *ret, struct fault *f) _must_check_;

/* Sets the size of K: disk usage in bytes, at least 4 KiB per entry, and the number of files. */
int session_upper_measure(int layer, struct session_upper *k, struct fault *f) _must_check_;
/* Removes the upper, layer.json and the record of the base; the rest of DIRFD stays. */
int session_upper_remove(int dirfd, struct fault *f) _must_check_;
/*
 * The same; the trees are removed by a process of its own, which holds the lock of DIRFD as long.  If it is killed, the next
 * session_upper_list removes the rest.
 */
int session_upper_remove_later(int dirfd, struct fault *f) _must_check_;
/* Opens and locks STATE/sessions/ID, or -EBUSY. */
int session_upper_lock(const struct dirs *d, const char *id, struct fault *f) _must_check_;
/* The same for a reader that others may share: a run that continues the session, or its diff. */
int session_upper_lock_shared(const struct dirs *d, const char *id, struct fault *f) _must_check_;

struct session_upper_list {
	struct session_upper *items; /* oldest first */
	size_t n, room;
};
int session_upper_list(const struct dirs *d, struct session_upper_list *ret, struct fault *f) _must_check_;
void session_upper_list_done(struct session_upper_list *l);
#define _cleanup_session_upper_list_ _cleanup_(session_upper_list_done)

/*
 * Sessions whose base is ID, kept or running, also of a supervisor that died: the upper of ID must stay for them.  *RET:
 * their ids, NULL: none.
 */
int session_upper_children(const struct dirs *d, const char *id, char ***ret, struct fault *f) _must_check_;
/* Of sessions that run, or whose supervisor died, as they announced them; added to RET. */
int session_upper_list_announced(const struct dirs *d, struct session_upper_list *ret,
				 struct fault *f) _must_check_;
/* Is ID the base of one of L? */
bool session_upper_is_base(const struct session_upper_list *l, const char *id);

/* Uppers to remove: V[i] is "too-old", "over-quota" or NULL. Pure. KEEP (may be NULL) is never removed. */
void session_upper_judge(const struct session_upper_list *l, uint64_t now_us, uint64_t days, uint64_t quota,
			 const char *keep, const char **v);
