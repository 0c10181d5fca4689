/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/json.h"
#include "state/lane.h"

/*
 * The request of custody-hook or custody-runtime to custody-warden about an allowed container: one JSON object, sent with the
 * descriptors below (container/warden-channel.h). The warden's environment determines its directories (state/dirs.h).
 */
#define WARDEN_PIDFD 3	  /* of the container's first process */
#define WARDEN_SESSION 4  /* RUN/sessions/ID, locked */
#define WARDEN_CLAIM 5	  /* STATE/open/ID, locked */
#define WARDEN_HANDOVER 6 /* datagram socket for the worktree descriptors, container/warden-handover.h */
#define WARDEN_CALL 6	  /* of an engine's container: the listening socket, container/warden-call.h */
#define WARDEN_CHANNEL 7  /* socket that the others are received over; the only one inherited at exec */
#define WARDEN_TREE \
	8 /* of an engine's container: its worktree, the upper, the sockets of broker and custody-parent; each may be missing */
#define WARDEN_FDS 4
#define WARDEN_FDS_MAX (WARDEN_FDS + 4)
#define WARDEN_REQUEST_MAX 8192

/* Files in the session's directory: its end, written after the ledger record; mark that custody-hook audit is done. */
#define WARDEN_EXIT "exit.json"
#define WARDEN_AUDITED "audited"

enum warden_kind {
	WARDEN_BUNDLE, /* custody-hook wrote the bundle: its container has a gate */
	WARDEN_ENGINE, /* of an engine: custody-runtime starts it */
};

struct warden_request {
	enum warden_kind kind;
	char session[SESSION_ID_SIZE];
	enum lane lane;
	char *container; /* the runtime's id */
	char level;
	bool reserved;	      /* a reserved grant is to be consumed */
	struct digest digest; /* of the subject */
	uid_t uid;	      /* of the caller that starts it */
	char *user;
	pid_t pid; /* of the first process, for /proc: valid only while the pidfd shows that it is alive */
	struct jdoc *governance; /* of the profile, NULL: none */
	char *profile;		 /* its name, for messages */
	bool init; /* its program is custody-init, which waits at the gate; else the start cannot be observed */
	/* Of an engine's container: */
	bool tree, upper, broker, parent; /* these descriptors follow */
	bool once;			  /* of the grant, decision/decision.h */
	bool isolate;			  /* LAYERS are to be proven */
	uint32_t layers, optional;	  /* LAYER_BIT()s; of OPTIONAL, missing ones do not refuse */
	unsigned int preserved;		  /* descriptors from 3 that the engine passes to it */
	uint64_t exe_dev, exe_ino;	  /* program of the process that waits for its start; 0: not known */
};

/* Number of descriptors that follow it. */
size_t warden_request_fds(const struct warden_request *o);
/* The number of the broker's socket in custody-warden; -EBADF: none. */
int warden_request_broker(const struct warden_request *o);
/* The same of the socket of custody-parent. */
int warden_request_parent(const struct warden_request *o);

int warden_request_write(const struct warden_request *o, struct strbuf *out, struct fault *f) _must_check_;
int warden_request_parse(const char *text, struct warden_request *ret, struct fault *f) _must_check_;
void warden_request_done(struct warden_request *o);
#define _cleanup_warden_request_ _cleanup_(warden_request_done)
