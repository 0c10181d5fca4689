/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/json.h"
#include "approval/approval-store.h"

/*
 * A pending question to an approver: one file per digest, STATE/requests/ID.json, however often it is asked.
 * A denied one stays until it expires, so that a repetition is answered by the denial and not by a new
 * question.
 */
#define REQUEST_ID_SIZE 17 /* first 16 hex digits of the digest */
#define REQUEST_ASKERS_MAX 16
#define REQUEST_COMMAND_MAX 16384
#define REQUEST_REASON_MAX 1024

enum request_state {
	REQUEST_OPEN,
	REQUEST_DENIED,
	REQUEST_DAMAGED, /* in lists only: its file cannot be read, only its id is known */
};

struct request {
	char id[REQUEST_ID_SIZE];
	struct digest digest;
	char lane[16];
	char *ledger; /* public key of the ledger that asks: a grant is for it; NULL: an older version filed it */
	char level; /* 'B', 'C' */
	enum request_state state;
	char *command;	      /* as shown to people; one line, not escaped for a terminal */
	char *agent, *worker; /* NULL: none */
	char *profile;	      /* NULL: none */
	char *alike;	      /* see request_ask */
	struct jdoc *subject; /* NULL: none */
	struct jdoc *verdict; /* NULL: none */
	/* Parts of a standing approval (standing.h), or {"never":WHY}; NULL: not asked on this machine. */
	struct jdoc *standing;
	char **askers;	       /* "UID:NAME" of all requesters, set by the supervisor */
	uint64_t count;	       /* number of requests */
	struct moment created; /* boot and both clocks */
	uint64_t expires_us;
	char *denied_by, *denied_reason; /* NULL unless denied */
	uint64_t denied_us;
	unsigned int
		needed; /* required approvals, by the requester's rules: the configuration's and the profile's */
	bool no_self; /* ... and not by the requester */
	char **only;  /* names of the only allowed approvers, if the profile chose; else empty */
	char **approvals; /* names of the approvers so far, while more are required; grant_find knows which still count */
};
void request_done(struct request *r);
#define _cleanup_request_ _cleanup_(request_done)

struct request_list {
	struct request *items;
	size_t n;
};
void request_list_done(struct request_list *l);
#define _cleanup_requests_ _cleanup_(request_list_done)

/*
 * Profile, worktree and program of a subject's document: subjects that agree in these are versions of the
 * same task.
 */
void request_put_alike(const struct jdoc *subject, struct strbuf *out);

/* Arguments of a request; all borrowed.  COMMAND is displayed, redacted by the caller. */
struct request_ask {
	const struct digest *digest;
	char level;
	const char *command, *agent, *worker, *profile;
	/*
	 * Key of subjects that are versions of one task (profile, worktree and argv[0], for example):
	 * request_last_approved returns the last approved subject of the same key, for "what changed".  NULL:
	 * none.
	 */
	const char *alike;
	const struct jdoc *subject, *verdict;
	const struct jdoc *standing; /* see struct request */
	uid_t uid;		     /* requester, as the supervisor knows it: never from the command line */
	const char *user;
};

/*
 * Files or counts it.  The first time it is recorded (approval.request), synced before the file exists.
 * RET->state may be REQUEST_DENIED: an approver denied exactly this.  -EDQUOT: too many are open; F has the
 * command to clear them.
 */
int request_file(const struct approval_store *d, const struct request_ask *ask, struct request *ret,
		 struct fault *f) _must_check_;

/* Imports a request file of another host (`custody approve FILE`): filed and recorded as such. */
int request_import(const struct approval_store *d, const char *path, struct request *ret,
		   struct fault *f) _must_check_;

/* By id or by an unambiguous beginning of at least 4 digits.  -ENOENT; expired ones are dropped first. */
int request_read(const struct approval_store *d, const char *id, struct request *ret,
		 struct fault *f) _must_check_;
int request_list(const struct approval_store *d, bool denied_too, struct request_list *ret,
		 struct fault *f) _must_check_; /* oldest first */

/* An approver denied it.  Recorded (approval.deny) first.  REASON may be NULL. */
int request_deny(const struct approval_store *d, const char *id, const char *by, const char *reason,
		 struct fault *f) _must_check_;

/* The request is no longer needed.  WHY: "withdrawn", "cleared".  Recorded (approval.drop). */
int request_drop(const struct approval_store *d, const char *id, const char *why,
		 struct fault *f) _must_check_;
int request_drop_all(const struct approval_store *d, const char *why, unsigned int *ret_n,
		     struct fault *f) _must_check_;

/* Drops expired requests, each with a record (approval.drop, why "expired"). */
int request_sweep(const struct approval_store *d, struct fault *f) _must_check_;

/* -ENOENT: no similar subject was approved before. */
int request_last_approved(const struct approval_store *d, const char *alike, struct jdoc **ret_subject,
			  struct fault *f) _must_check_;

/* The file's text, for another host; request_import reads it. */
int request_write(const struct request *r, struct strbuf *out, struct fault *f) _must_check_;
