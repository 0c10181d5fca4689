/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"
#include "layer/init-proto.h"
#include "session/session-note.h"
#include "state/digest-key.h"
#include "subject/subject.h"

/* A running session as `custody exec` finds it: its supervisor, and the supervisor's description. */
#define EXEC_SESSION_VERSION 1

struct exec_session {
	int pidfd;  /* of the supervisor, which holds the session's lock */
	int client; /* connection to it */
	struct jdoc *description;
	struct subject *subject; /* of the session, with the values of its environment */
	struct digest digest;	 /* of its document */
	pid_t init;
	uint64_t ns[_INIT_NS_MAX];
	uint32_t limits; /* LAYER_BIT()s that the supervisor has proven */
};
#define EXEC_SESSION_NONE ((struct exec_session){ .pidfd = -EBADF, .client = -EBADF })

/* N is running and an own run.  The supervisor is verified as by `custody stop`, and its description by the digest in N. */
int exec_session_open(const struct dirs *d, const struct session_note *n, const struct digest_key *key,
		      struct exec_session *ret, struct fault *f) _must_check_;
void exec_session_done(struct exec_session *s);
#define _cleanup_exec_session_ _cleanup_(exec_session_done)
