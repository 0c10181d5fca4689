/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "ledger/ledger-redact.h"
#include "ledger/ledger.h"

/*
 * Records of a run, in this order: intent, then start, heartbeats, end; or a refusal instead. If the intent
 * cannot be written, nothing starts. Values of the environment are never recorded, only names.
 */
struct audit;
struct record;

#define LEDGER_ACTION_EXEC "exec" /* a command in a running session: kinds exec.* instead of session.* */

struct ledger_run {
	const char *action;			      /* "run", "exec", "create" ... */
	const char *session, *agent, *worker, *issue; /* AGENT, WORKER, ISSUE: NULL if not given */
	const char *lane, *profile, *image;	      /* PROFILE or IMAGE: source of the subject */
	const char *digest;			      /* of the subject, "sha256:..."; NULL: none yet */
	char *const *argv;
	char *const *env; /* NAME=value or NAME; NULL: none */
	const char *cwd;
	const char *within;  /* "exec": the session that the command runs in; NULL: none */
	const char *overlay; /* "fuse"; NULL: kernel overlay, or none */
	bool sandbox;	     /* is it isolated? */
	struct {
		char level; /* 'A', 'B', 'C'; 0: not decided */
		bool granted;
		uint64_t granted_at_us;	    /* 0: not known */
		const char *by;		    /* NULL: no approval was requested */
		const struct jdoc *verdict; /* verdict of policy; NULL: not evaluated */
	} approval;
	const struct redact *redact; /* NULL: the built-in lists */
	struct audit *audit; /* the session's own chain, which gets the same records; NULL: none yet */
	bool intended; /* the intent is written: a refusal is its end, and is written even on a full disk */
};

struct ledger_end {
	const char *reason; /* "exited", "oom" ... */
	const char *source; /* observer: "init", "wait" ... */
	int code, signal;
	bool abnormal;
	uint64_t wall_ms;		 /* duration */
	const struct ledger_mark *audit; /* end of the session's own chain; NULL: that of the run's, if any */
	const char *evidence;		 /* path, NULL: none */
	const struct digest *evidence_digest; /* of its metadata.json; with EVIDENCE */
	bool evidence_staged; /* EVIDENCE is a staging path: a record evidence.deliver names the final one */
	const char *evidence_error; /* why the evidence is missing; NULL: no failure */
};

enum ledger_session_kind {
	LEDGER_SESSION_INTENT,
	LEDGER_SESSION_START,
	LEDGER_SESSION_ALIVE,
	LEDGER_SESSION_END,
	LEDGER_SESSION_REFUSED,
};
/* Is R that record of a session, or of an exec? */
bool ledger_session_kind_is(const struct record *r, enum ledger_session_kind k);
/* Does R belong to session ID, also as a record of a command that was started in it? */
bool ledger_session_has(const char *id, const struct record *r);

/* On the disk when it returns 0.  The session's own chain does not exist yet: it gets the same by ledger_intent_audit. */
int ledger_intent(struct ledger *l, const struct ledger_run *run, struct fault *f) _must_check_;
int ledger_intent_audit(const struct ledger_run *run, struct fault *f) _must_check_;

/* Observations.  LAYERS: NULL-terminated "seccomp=proven" and the like. */
int ledger_start(struct ledger *l, const struct ledger_run *run, pid_t pid, char *const *layers,
		 struct fault *f) _must_check_;
int ledger_heartbeat(struct ledger *l, const struct ledger_run *run, struct fault *f) _must_check_;

/*
 * The last record of the session's own chain: once, before its evidence is captured. A full disk is ignored.
 */
void ledger_end_audit(const struct ledger_run *run, const struct ledger_end *end);

/*
 * Synced, signed, and being sent to the peers. An unreachable peer is ignored; it receives the record later.
 */
int ledger_end(struct ledger *l, const char *state, const struct ledger_run *run,
	       const struct ledger_end *end, struct fault *f) _must_check_;

/* ID is stable ("lane", "policy", "setup-failed"), TEXT is for people.  On the disk when it returns 0. */
int ledger_refuse(struct ledger *l, const struct ledger_run *run, const char *id, const char *text,
		  struct fault *f) _must_check_;

/* A start in prod without both keys, in the ledger of the sandbox lane: `lane.refused`. */
int ledger_refuse_lane(struct ledger *l, const struct ledger_run *run, const char *text,
		       struct fault *f) _must_check_;

/* Lane `prod` was used, by the caller's user. On the disk when it returns 0; called through lane_record. */
int ledger_override(struct ledger *l, const struct ledger_run *run, struct fault *f) _must_check_;
