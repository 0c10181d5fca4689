/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "broker/broker-decide.h"
#include "decision/decision.h"

/*
 * The broker of one session: a process of its own, child of the supervisor, that answers on a listening socket.  It records
 * into the lane's ledger itself; its other end of LINK gets each record once more, for the session's own chain.
 *
 * The supervisor closes LINK at the end of the session: the broker kills its tools, sends its last records and exits.  If the
 * supervisor dies, the kernel kills the broker; if the broker dies, LINK ends and the session is lost.
 */
#define BROKER_NOTES_MAX ((size_t)1024 * 1024)
#define BROKER_NOTE_MAX ((size_t)8 * 1024)
#define BROKER_RECORD_MAX ((size_t)8 * 1024) /* of one message on LINK */

struct broker_job {
	const struct broker_tools *tools;
	const struct dirs *dirs;
	const struct config *config;
	const struct ledger_run *run;  /* names of the records */
	const struct jdoc *governance; /* section of the profile; NULL: none */
	struct digest token;	       /* its SHA-256 */
	int listen_fd;		       /* bound and listening; stays the caller's */
	int state_fd;		       /* the session's state directory; stays the caller's */
	pid_t init;		       /* the first process of the session */
	const char *cgroup;	       /* its cgroup and pid namespace: broker-peer.h */
	bool pid_shared;
	const char *worktree; /* its path inside; NULL: none */
};

struct broker {
	pid_t pid;
	int pidfd; /* the supervisor reaps children that it does not know */
	int link;
};
#define BROKER_NONE ((struct broker){ .pid = -1, .pidfd = -EBADF, .link = -EBADF })

/* Nothing of the session runs yet: what the broker needs and does not have is an error here. */
int broker_start(const struct broker_job *job, struct broker *ret, struct fault *f) _must_check_;

/* One record for the session's own chain: 1; 0: the broker has exited; -EAGAIN: none is queued. */
struct broker_record {
	char *kind, *status;
	struct jdoc *d;
};
int broker_receive(const struct broker *b, bool wait, struct broker_record *ret) _must_check_;
/* What the supervisor has to know of it: the session's end is not a normal one. */
enum broker_notice {
	BROKER_NOTICE_NONE,
	BROKER_NOTICE_BUDGET,	  /* a call beyond the budget was refused */
	BROKER_NOTICE_INSPECTION, /* inspection found something, and the call was refused */
};
enum broker_notice broker_record_notice(const struct broker_record *r);
void broker_record_done(struct broker_record *r);
#define _cleanup_broker_record_ _cleanup_(broker_record_done)

void broker_finish(struct broker *b); /* no more calls; receive until 0, then: */
void broker_done(struct broker *b);
