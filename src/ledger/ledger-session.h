/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "ledger/ledger-redact.h"
#include "ledger/ledger.h"

/*
 * What a run tells the ledger, in this order: intent, then start, heartbeats, end; or a refusal instead.  An intent
 * that cannot be written means that nothing starts.  Values of the environment are never told, only names.
 */
struct audit;

struct ledger_run {
	const char *action;			      /* "run", "exec", "create" ... */
	const char *session, *agent, *worker, *issue; /* AGENT, WORKER, ISSUE: NULL when not given */
	const char *lane, *profile, *image;	      /* PROFILE or IMAGE: which of them says what runs */
	const char *digest; /* of the subject, "sha256:..."; NULL when there is none yet */
	char *const *argv;
	char *const *env; /* NAME=value or NAME; NULL: none */
	const char *cwd;
	const char *overlay; /* "fuse"; NULL: the kernel makes it, or there is none */
	bool sandbox;	     /* is it isolated? */
	struct {
		char level; /* 'A', 'B', 'C'; 0: not decided */
		bool granted;
		uint64_t granted_at_us;	    /* 0: not known */
		const char *by;		    /* NULL: nobody was asked */
		const struct jdoc *verdict; /* what policy said; NULL: not asked */
	} approval;
	const struct redact *redact; /* NULL: the built-in lists */
	struct audit *audit;	     /* the session's own chain, which is told the same; NULL: none yet */
	bool intended; /* the intent is written: a refusal now ends its story, also on a full disk */
};

struct ledger_end {
	const char *reason; /* "exited", "oom" ... */
	const char *source; /* who saw it: "init", "wait" ... */
	int code, signal;
	bool abnormal;
	uint64_t wall_ms;		 /* how long it took */
	const struct ledger_mark *audit; /* end of the session's own chain; NULL: that of the run's, if any */
	const char *evidence;		 /* path, NULL: none */
	const struct digest *evidence_digest; /* of its metadata.json; with EVIDENCE */
	bool evidence_staged; /* EVIDENCE is not its last place: a record evidence.deliver will name that */
	const char *evidence_error; /* why there is none although there should be; NULL: nothing failed */
};

/* On the disk when it returns 0.  The session's own chain does not exist yet: it gets the same by ledger_intent_audit. */
int ledger_intent(struct ledger *l, const struct ledger_run *run, struct fault *f) _must_check_;
int ledger_intent_audit(const struct ledger_run *run, struct fault *f) _must_check_;

/* Observations.  LAYERS: NULL-terminated "seccomp=proven" and the like. */
int ledger_start(struct ledger *l, const struct ledger_run *run, pid_t pid, char *const *layers,
		 struct fault *f) _must_check_;
int ledger_heartbeat(struct ledger *l, const struct ledger_run *run, struct fault *f) _must_check_;

/* The last record of the session's own chain: before its evidence is taken, and once.  A full disk is no failure. */
void ledger_end_audit(const struct ledger_run *run, const struct ledger_end *end);

/* On the disk, signed, and on its way to the peers.  A peer that is away is no failure; it gets it later. */
int ledger_end(struct ledger *l, const char *state, const struct ledger_run *run,
	       const struct ledger_end *end, struct fault *f) _must_check_;

/* ID is stable ("lane", "policy", "setup-failed"), TEXT is for people.  On the disk when it returns 0. */
int ledger_refuse(struct ledger *l, const struct ledger_run *run, const char *id, const char *text,
		  struct fault *f) _must_check_;

/* Lane `prod` was armed, by the caller's user.  On the disk when it returns 0; called through lane_record. */
int ledger_override(struct ledger *l, const struct ledger_run *run, struct fault *f) _must_check_;
