/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/fault.h"
#include "state/dirs.h"
#include "ledger/ledger-session.h"
#include "session/session.h"

/*
 * What a session was and is, for people and for those who review it: STATE/sessions/ID/session.json, written before the
 * payload's first instruction and again at its end.  A convenience and never synced: what happened stands in the ledger.
 * Replaced by rename, so a reader finds a whole one.  Whether a session lives is not written anywhere, it is the lock
 * on RUN/sessions/ID.
 *
 * A note whose session is over for good, with nothing left of it but what is kept, is read-only (0400): a sweep sees by
 * one fstatat that nothing is to be done.
 */
#define SESSION_NOTE "session.json"
#define SESSION_LOG "stdio.log" /* output of a detached run; older half: SESSION_LOG_OLD */
#define SESSION_LOG_OLD "stdio.log.1"
#define SESSION_UPPER "u" /* overlay: the layer with the changes */

#define SESSION_NOTE_MAX ((size_t)1024 * 1024)
#define SESSION_NOTE_ARGV_MAX ((size_t)16 * 1024) /* of a longer one the beginning is told */
#define SESSION_NOTES_MAX 1000			  /* of ended sessions */
#define SESSION_NOTES_DAYS 30

enum session_state {
	SESSION_LOST, /* its supervisor is dead and nobody has cleaned up yet; never written */
	SESSION_RUNNING,
	SESSION_ENDED,
};
const char *session_state_name(enum session_state s); /* "lost", "running", "ended" */

struct session_note {
	char session[SESSION_ID_SIZE];
	enum session_state
		state; /* as written; session_note_list and _find: LOST instead of RUNNING without a lock */
	enum lane lane;
	char *name, *agent, *worker, *issue; /* NULL: not given */
	char *profile, *digest;
	char *container,
		*bundle; /* another runtime's id and where it came from; NULL: a run of custody's own */
	char **argv;	 /* redacted as in the ledger */
	bool argv_cut;	 /* there was more of it */
	char *worktree;	 /* host path; NULL: none */
	char *workspace; /* "overlay", "ro", "rw", "tmpfs", "overlay-fuse" */
	bool rootless, detached;

	pid_t pid;	    /* of the supervisor: never signalled before session_note_watch has proven it */
	uint64_t pid_start; /* its start in clock ticks since boot, field 22 of /proc/PID/stat */
	char boot[9];

	uid_t owner_uid; /* of the worktree, on the host */
	gid_t owner_gid;
	uid_t uid_base; /* host id of container id 0 */
	gid_t gid_base;
	uid_t uid; /* inside; on the host uid_base + uid owns what the payload wrote */
	gid_t gid;

	uint64_t started_us, ended_us; /* wall clock; ENDED_US 0: not yet */

	/* Filled at the end; REASON NULL: not yet. */
	char *reason, *source;
	int code, signal;
	bool abnormal;
	char *evidence; /* path; NULL: none */
	bool changed;	/* overlay: the layer was not empty */
	bool kept;	/* and is kept, in SESSION_UPPER beside the note */

	bool settled; /* the file's mode, not in it: read-only */
};

/* Texts of a session that starts; borrowed, NULL: not given.  ARGV is redacted with REDACT. */
struct session_note_texts {
	const char *name, *agent, *worker, *issue, *profile, *digest;
	const char *container, *bundle, *worktree, *workspace;
	char *const *argv;
	const struct redact *redact;
};
/* A running session of lane D->lane that started at STARTED_US, supervised by the calling process. */
int session_note_fill(struct session_note *n, const struct dirs *d, const char *id, uint64_t started_us,
		      const struct session_note_texts *t, struct fault *f) _must_check_;

/* As END says it, and that it has ended now; the rest stays. */
int session_note_end(struct session_note *n, const struct ledger_end *end, struct fault *f) _must_check_;
/* The command, cut; after redaction. */
int session_note_set_argv(struct session_note *n, char *const *argv, struct fault *f) _must_check_;
void session_note_done(struct session_note *n);
#define _cleanup_session_note_ _cleanup_(session_note_done)

/* STATE/sessions/ID; -ENOENT: no such session. */
int session_note_open_dir(const struct dirs *d, const char *id, struct fault *f) _must_check_;

/* DIRFD is STATE/sessions/ID.  Not synced. */
int session_note_write(int dirfd, const struct session_note *n, struct fault *f) _must_check_;
/* Strict: a file of ours, whole, no key missing and none unknown.  -ENOENT: there is none. */
int session_note_read(int dirfd, struct session_note *ret, struct fault *f) _must_check_;

struct session_note_list {
	struct session_note *items; /* newest first */
	size_t n;
	char **broken; /* "ID: why": notes that cannot be read */
};
/* Of the lane of D only. */
int session_note_list(const struct dirs *d, struct session_note_list *ret, struct fault *f) _must_check_;
void session_note_list_done(struct session_note_list *l);
#define _cleanup_session_notes_ _cleanup_(session_note_list_done)

/*
 * WORD: a whole id, else a name (of the one that lives, or of the only one), else how exactly one id begins.
 * -ENOENT: nothing is called so; -ENOTUNIQ: several are, F lists them.
 */
int session_note_find(const struct dirs *d, const char *word, struct session_note *ret,
		      struct fault *f) _must_check_;

/* Fills pid, pid_start and boot with the calling process. */
int session_note_sign(struct session_note *n, struct fault *f) _must_check_;
/*
 * A pidfd of the supervisor of N, proven: the process of that number has that start, and it holds the lock of the session.
 * -ESRCH: it is gone.
 */
int session_note_watch(const struct dirs *d, const struct session_note *n, struct fault *f) _must_check_;

/* Of a session that is over everything goes but the note, the log and, if KEPT, the layer of changes. */
int session_note_trim(int dir, bool kept, struct fault *f) _must_check_;
/*
 * The session of this directory is over: everything goes but the note, the log and, if the note says so, the layer of
 * changes.  A note that still says running becomes that of a lost one.  Without a note that can be read nothing stays.
 */
int session_note_settle(int states_fd, const char *id, struct fault *f) _must_check_;
bool session_note_is_settled(int states_fd, const char *id);

/* Did the payload write anything into its layer?  One that cannot be looked at has something to be looked at. */
bool session_has_changes(int dirfd);
