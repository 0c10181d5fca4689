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
 * The note of a session, for users and for review: STATE/sessions/ID/session.json, written before the payload's
 * first instruction and again at its end. A convenience and never synced: the ledger is the record. Replaced by
 * rename, so that a reader never reads a partial file. The note does not show whether a session is alive; the lock
 * on RUN/sessions/ID does.
 *
 * The note of a session that is over and cleaned up except for kept files is read-only (0400): one fstatat shows
 * a sweep that it can skip the session.
 */
#define SESSION_NOTE "session.json"
#define SESSION_LOG "stdio.log" /* output of a detached run; older half: SESSION_LOG_OLD */
#define SESSION_LOG_OLD "stdio.log.1"
#define SESSION_NOTES "notes.ndjson" /* of the broker's tool note.write; kept as the log */
#define SESSION_UPPER "u"	     /* overlay: the upper with the changes */

#define SESSION_NOTE_MAX ((size_t)1024 * 1024)
#define SESSION_NOTE_ARGV_MAX ((size_t)16 * 1024) /* a longer one is truncated */
#define SESSION_NOTES_MAX 1000			  /* of ended sessions */
#define SESSION_NOTES_DAYS 30

enum session_state {
	SESSION_LOST, /* its supervisor is dead and its files are not yet swept; never written */
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
		*bundle; /* another runtime's id and bundle directory; NULL: a run of custody itself */
	char **argv;	 /* redacted as in the ledger */
	bool argv_cut;	 /* it was truncated */
	char *worktree;	 /* host path; NULL: none */
	uint64_t worktree_device,
		worktree_inode; /* 0: unknown, in notes of older versions and of containers */
	char *workspace;	/* "overlay", "ro", "rw", "tmpfs", "overlay-fuse" */
	bool rootless, detached;
	char **chain; /* sessions that it continues, its base first; NULL: none */

	pid_t pid;	    /* of the supervisor: never signalled before session_note_watch has verified it */
	uint64_t pid_start; /* its start in clock ticks since boot, field 22 of /proc/PID/stat */
	char boot[9];

	uid_t owner_uid; /* of the worktree, on the host */
	gid_t owner_gid;
	uid_t uid_base; /* host id of container id 0 */
	gid_t gid_base;
	uid_t uid; /* inside; on the host uid_base + uid owns the payload's files */
	gid_t gid;

	uint64_t started_us, ended_us; /* wall clock; ENDED_US 0: not yet */

	/* Filled at the end; REASON NULL: not yet. */
	char *reason, *source;
	int code, signal;
	bool abnormal;
	char *evidence; /* path; NULL: none */
	bool changed;	/* overlay: the upper was not empty */
	bool kept;	/* the upper is kept, in SESSION_UPPER beside the note */

	bool settled; /* the file is read-only; its mode, not a key in it */
};

/* Values of a session that starts; borrowed, NULL: not given. ARGV is redacted with REDACT. */
struct session_note_texts {
	const char *name, *agent, *worker, *issue, *profile, *digest;
	const char *container, *bundle, *worktree, *workspace;
	char *const *argv;
	char *const *chain;
	const struct redact *redact;
};
/* A running session of lane D->lane that started at STARTED_US, supervised by the calling process. */
int session_note_fill(struct session_note *n, const struct dirs *d, const char *id, uint64_t started_us,
		      const struct session_note_texts *t, struct fault *f) _must_check_;

/* Sets the fields of END and the current time as end; the other fields stay. */
int session_note_end(struct session_note *n, const struct ledger_end *end, struct fault *f) _must_check_;
/* The redacted command, truncated to SESSION_NOTE_ARGV_MAX. */
int session_note_set_argv(struct session_note *n, char *const *argv, struct fault *f) _must_check_;
void session_note_done(struct session_note *n);
#define _cleanup_session_note_ _cleanup_(session_note_done)

/* STATE/sessions/ID; -ENOENT: no such session. */
int session_note_open_dir(const struct dirs *d, const char *id, struct fault *f) _must_check_;

/* DIRFD is STATE/sessions/ID.  Not synced. */
int session_note_write(int dirfd, const struct session_note *n, struct fault *f) _must_check_;
/* Strict: owned by the caller, complete, no missing or unknown key. -ENOENT: the file is missing. */
int session_note_read(int dirfd, struct session_note *ret, struct fault *f) _must_check_;

#define SESSION_DIGITS_MIN 4
/* WORD is a prefix of ID, or of its digits behind the time; ID may have a suffix, as the names of evidence. */
bool session_word_matches(const char *word, const char *id);

struct session_note_list {
	struct session_note *items; /* newest first */
	size_t n;
	char **broken; /* "ID: reason": unreadable notes */
};
/* Only sessions of the lane of D. */
int session_note_list(const struct dirs *d, struct session_note_list *ret, struct fault *f) _must_check_;
void session_note_list_done(struct session_note_list *l);
#define _cleanup_session_notes_ _cleanup_(session_note_list_done)

/*
 * WORD: a full id, else a name (of the only running session, or of the only one), else the prefix of exactly one id or
 * of the digits behind its time (at least SESSION_DIGITS_MIN).  All digits of one session and the name of another:
 * ambiguous, because a payload's agent chooses names.  -ENOENT: no match; -ENOTUNIQ: several matches, F lists them.
 */
int session_note_find(const struct dirs *d, const char *word, struct session_note *ret,
		      struct fault *f) _must_check_;

/* Fills pid, pid_start and boot with the calling process. */
int session_note_sign(struct session_note *n, struct fault *f) _must_check_;
/*
 * A verified pidfd of the supervisor of N: the process with that pid has that start time and holds the lock of the
 * session. -ESRCH: it has exited.
 */
int session_note_watch(const struct dirs *d, const struct session_note *n, struct fault *f) _must_check_;

/* Removes all files of an ended session except the note, the log and, if KEPT, the upper. */
int session_note_trim(int dir, bool kept, struct fault *f) _must_check_;
/*
 * The session of this directory is over: removes all files except the note, the log and, if the note has `kept`, the
 * upper. A note with state running becomes that of a lost session. Without a readable note the directory is removed.
 */
int session_note_settle(int states_fd, const char *id, struct fault *f) _must_check_;
bool session_note_is_settled(int states_fd, const char *id);

/* Did the payload write to its upper? True also if the upper cannot be read. */
bool session_has_changes(int dirfd);
