/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/fault.h"
#include "state/dirs.h"

/*
 * One run on this host: its name, its directories, its block of ids.  The directory RUN/sessions/ID is flocked as
 * long as the supervisor lives; one that nobody holds is stale and swept by the next start.  Ids are byte-range
 * locks in RUN/ids, which the kernel drops with the supervisor.
 */
#define SESSION_ID_BASE UINT32_C(1879048192)
#define SESSION_IDS 65536u
#define SESSION_BLOCKS 2048u /* blocks 2048-4095 belong to portable bundles */

struct session {
	char id[SESSION_ID_SIZE];
	char *run;	   /* RUN/sessions/ID, 0700 */
	char *state;	   /* STATE/sessions/ID, 0700; exists after session_make_state */
	char *mount_point; /* RUN/m: the same empty directory for all, covered in private mount namespaces only */
	int run_fd;	   /* holds the lock */
	int ids_fd;
	bool rootless;
	bool has_state;
	bool has_note;	/* STATE/sessions/ID has a note (session-note.h): it outlives the session */
	uid_t uid_base; /* host id of container root */
	gid_t gid_base;
	unsigned int n_ids;
};

/*
 * Makes the directory of ID (clock_session_id) and takes the ids.  Rootless: the caller's own single id.  Without the
 * pass that lane_gate made for the lane of D, with a foreign or unreadable state of the lane: nothing is made.
 */
int session_open(const struct dirs *d, const struct lane_pass *pass, const char *id, struct session *ret,
		 struct fault *f) _must_check_;
/* STATE/sessions/ID of the lane, stamped.  Returns a dirfd; *RET_MADE once the directory exists, also on failure. */
int session_make_dir(const struct dirs *d, const char *id, bool *ret_made, struct fault *f) _must_check_;
/* The same of S, for what must lie on a disk (overlay layers); borrowed path in s->state. */
int session_make_state(struct session *s, const struct dirs *d, struct fault *f) _must_check_;
/* Removes everything of this session but its note and what that keeps; what cannot be removed is reported and left to the next sweep. */
int session_remove(struct session *s, struct fault *f) _must_check_;
void session_done(struct session *s); /* memory and locks only */
#define _cleanup_session_ _cleanup_(session_done)

/*
 * Removes what dead supervisors left: RELEASE ends what the session's directory describes (its cgroup), then the
 * directories go.  Returns the number of sessions swept.
 */
typedef int (*session_release)(void *arg, const char *id, int run_fd, struct fault *f);
int session_sweep(const struct dirs *d, session_release release, void *arg, struct fault *f) _must_check_;
/* The same for a start: what can only be left by a reboot, and old notes, are looked for once a minute. */
int session_sweep_start(const struct dirs *d, session_release release, void *arg,
			struct fault *f) _must_check_;
