/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/json.h"
#include "approval/approval-store.h"

/*
 * A question that waits for a person: one file per digest, STATE/requests/ID.json, however often it is asked.  A
 * refused one stays until it expires, so that asking again is answered by the refusal and not by a new question.
 */
#define REQUEST_ID_SIZE 17 /* first 16 hex digits of the digest */
#define REQUEST_ASKERS_MAX 16
#define REQUEST_COMMAND_MAX 16384
#define REQUEST_REASON_MAX 1024

enum request_state {
	REQUEST_OPEN,
	REQUEST_DENIED,
	REQUEST_DAMAGED, /* in lists only: its file cannot be read, its id is all there is */
};

struct request {
	char id[REQUEST_ID_SIZE];
	struct digest digest;
	char lane[16];
	char level; /* 'B', 'C' */
	enum request_state state;
	char *command;	       /* as shown to people; one line, not escaped for a terminal */
	char *agent, *worker;  /* NULL: none */
	char *profile;	       /* NULL: none */
	char *alike;	       /* see request_ask */
	struct jdoc *subject;  /* NULL: none */
	struct jdoc *verdict;  /* NULL: none */
	char **askers;	       /* "UID:NAME" of everybody who asked, set by the supervisor */
	uint64_t count;	       /* how often it was asked */
	struct moment created; /* boot and both clocks */
	uint64_t expires_us;
	char *denied_by, *denied_reason; /* NULL unless denied */
	uint64_t denied_us;
	unsigned int needed; /* approvals, by the rules of who asked: the configuration's and the profile's */
	bool no_self;	     /* ... and not by who asks */
	char **only;	     /* names of those who may approve, where the profile chose; else empty */
	char **approvals; /* names of those who said yes, while more are needed; grant_find knows which still count */
};
void request_done(struct request *r);
#define _cleanup_request_ _cleanup_(request_done)

struct request_list {
	struct request *items;
	size_t n;
};
void request_list_done(struct request_list *l);
#define _cleanup_requests_ _cleanup_(request_list_done)

/* Profile, place and program of a subject's document: what agrees in these is a version of the same thing. */
void request_put_alike(const struct jdoc *subject, struct strbuf *out);

/* What is asked; all borrowed.  COMMAND is shown, redacted by the caller. */
struct request_ask {
	const struct digest *digest;
	char level;
	const char *command, *agent, *worker, *profile;
	/*
	 * What makes two subjects versions of one thing (profile, worktree and argv[0], say): the last approved
	 * subject under the same text is what request_last_approved gives for "what changed".  NULL: nothing.
	 */
	const char *alike;
	const struct jdoc *subject, *verdict;
	uid_t uid; /* who asks, as the supervisor knows it: never from the command line */
	const char *user;
};

/*
 * Files it, or counts it.  The first time it is recorded (approval.request), synced before the file is there.
 * RET->state may be REQUEST_DENIED: a person said no to exactly this.  -EDQUOT: too many are open, and how to clear.
 */
int request_file(const struct approval_store *d, const struct request_ask *ask, struct request *ret,
		 struct fault *f) _must_check_;

/* A request that was carried here as a file (`custody approve FILE`): filed and recorded as such. */
int request_import(const struct approval_store *d, const char *path, struct request *ret,
		   struct fault *f) _must_check_;

/* By id or by an unambiguous beginning of at least 4 digits.  -ENOENT; expired ones are dropped first. */
int request_read(const struct approval_store *d, const char *id, struct request *ret,
		 struct fault *f) _must_check_;
int request_list(const struct approval_store *d, bool denied_too, struct request_list *ret,
		 struct fault *f) _must_check_; /* oldest first */

/* A person said no.  Recorded (approval.deny) first.  REASON may be NULL. */
int request_deny(const struct approval_store *d, const char *id, const char *by, const char *reason,
		 struct fault *f) _must_check_;

/* Nobody wants to know any more.  WHY: "withdrawn", "cleared".  Recorded (approval.drop). */
int request_drop(const struct approval_store *d, const char *id, const char *why,
		 struct fault *f) _must_check_;
int request_drop_all(const struct approval_store *d, const char *why, unsigned int *ret_n,
		     struct fault *f) _must_check_;

/* Drops what has expired, each with a record (approval.drop, why "expired"). */
int request_sweep(const struct approval_store *d, struct fault *f) _must_check_;

/* -ENOENT: nothing alike was approved before. */
int request_last_approved(const struct approval_store *d, const char *alike, struct jdoc **ret_subject,
			  struct fault *f) _must_check_;

/* The file's text, for carrying; what request_import reads. */
int request_write(const struct request *r, struct strbuf *out, struct fault *f) _must_check_;
