/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "state/lane.h"

/*
 * What custody-hook tells custody-warden of the container that it lets pass: one JSON object, which comes with the
 * descriptors below (container/warden-channel.h).  The warden's environment says where things lie (state/dirs.h).
 */
#define WARDEN_PIDFD 3	 /* of the container's first process */
#define WARDEN_SESSION 4 /* RUN/sessions/ID, locked */
#define WARDEN_CLAIM 5	 /* STATE/open/ID, locked */
#define WARDEN_WATCH \
	6 /* inotify: custody-init was opened, by whomever; nothing is missed since the hook made it */
#define WARDEN_HANDOVER 7 /* datagram socket: custody-hook brings the worktree, container/warden-handover.h */
#define WARDEN_CHANNEL \
	8 /* all that it is executed with: the socket that the others come over, below itself */
#define WARDEN_FDS 5
#define WARDEN_REQUEST_MAX 8192

/* In the session's directory: how it ended, once that is in the ledger; and that whoever asks for it has gone. */
#define WARDEN_EXIT "exit.json"
#define WARDEN_AUDITED "audited"

struct warden_request {
	char session[SESSION_ID_SIZE];
	enum lane lane;
	char *container; /* the runtime's id */
	char level;
	bool reserved;	      /* a grant waits to be consumed */
	struct digest digest; /* of the subject */
	uid_t uid;	      /* who starts it */
	char *user;
	pid_t pid; /* of the first process: for /proc, believed only as long as the pidfd says that it lives */
	struct jdoc *governance; /* of the profile, NULL: none */
	char *profile;		 /* its name, for messages */
	bool init; /* custody-init is its program, and its execution the start; else nobody can see it start */
};

int warden_request_write(const struct warden_request *o, struct strbuf *out, struct fault *f) _must_check_;
int warden_request_parse(const char *text, struct warden_request *ret, struct fault *f) _must_check_;
void warden_request_done(struct warden_request *o);
#define _cleanup_warden_request_ _cleanup_(warden_request_done)
