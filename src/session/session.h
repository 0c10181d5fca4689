/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/id-map.h"
#include "state/dirs.h"

/*
 * One run on this host: its id, its directories, its range of uids and gids. The supervisor holds a flock on
 * RUN/sessions/ID while it lives; an unlocked directory is stale, and the next start sweeps it. Ranges are byte-range
 * locks in RUN/ids, which the kernel drops when the supervisor exits.
 */
#define SESSION_ID_BASE UINT32_C(1879048192)
#define SESSION_IDS 65536u
#define SESSION_BLOCKS 2048u /* blocks 2048-4095 belong to portable bundles */

struct session {
	char id[SESSION_ID_SIZE];
	char *run;   /* RUN/sessions/ID, 0700 */
	char *state; /* STATE/sessions/ID, 0700; exists after session_make_state */
	char *mount_point; /* RUN/m: one empty directory for all sessions, mounted over only in private mount namespaces */
	int run_fd; /* holds the lock */
	int ids_fd;
	bool rootless;
	bool has_state;
	bool has_note;	/* STATE/sessions/ID has a note (session-note.h), which is kept after the session */
	uid_t uid_base; /* host id of container root */
	gid_t gid_base;
	unsigned int n_ids;
	struct id_map ids; /* rootless: with subordinate ids; else not set */
};

/*
 * Creates the directory of ID (clock_session_id) and locks a range of ids. Rootless: the caller's own single id.
 * Creates nothing without the pass of lane_gate for the lane of D, or if the lane's state is foreign or unreadable.
 */
int session_open(const struct dirs *d, const struct lane_pass *pass, const char *id, struct session *ret,
		 struct fault *f) _must_check_;
/* The same with the range of ids that begins at UID_BASE, or -EBUSY; 0: any.  A user has one id, and no choice. */
int session_open_with_ids(const struct dirs *d, const struct lane_pass *pass, const char *id, uid_t uid_base,
			  struct session *ret, struct fault *f) _must_check_;
/* STATE/sessions/ID of the lane, stamped.  Returns a dirfd; *RET_MADE once the directory exists, also on failure. */
int session_make_dir(const struct dirs *d, const char *id, bool *ret_made, struct fault *f) _must_check_;
/* The same for S, for files that must be on a disk (uppers); the path is s->state. */
int session_make_state(struct session *s, const struct dirs *d, struct fault *f) _must_check_;
/* Removes all files of this session except its note and kept files. On failure the next sweep removes the rest. */
int session_remove(struct session *s, struct fault *f) _must_check_;
void session_done(struct session *s); /* frees memory and drops locks only */
#define _cleanup_session_ _cleanup_(session_done)

/*
 * Removes the remains of dead supervisors: RELEASE kills the processes that the session's directory describes (its
 * cgroup), then the directories are removed. Returns the number of sessions swept.
 */
typedef int (*session_release)(void *arg, const char *id, int run_fd, struct fault *f);
int session_sweep(const struct dirs *d, session_release release, void *arg, struct fault *f) _must_check_;
/* Dead supervisors only; state that a reboot left stays. */
int session_sweep_dead(const struct dirs *d, session_release release, void *arg,
		       struct fault *f) _must_check_;
bool session_is_any_dead(const struct dirs *d); /* of any lane */
/* The same as session_sweep for a start: state left by a reboot and old notes are searched for at most once a minute. */
int session_sweep_start(const struct dirs *d, session_release release, void *arg,
			struct fault *f) _must_check_;
