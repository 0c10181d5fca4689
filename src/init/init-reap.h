/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "layer/init-proto.h"

/* Descriptors that the loop polls; negative: none. */
struct reap {
	int socket;  /* supervisor */
	int pipe;    /* errno of a failed exec */
	int signals; /* signalfd */
	long payload;
	uint64_t time_ms, grace_ms; /* 0: no limit */
	const char *name;	    /* for messages */
	struct init_msg *msg;	    /* buffer for messages */
};

/* signalfd with everything that is forwarded or reaped, or negative errno.  All signals must be blocked. */
long reap_signals(void);

/* Runs until the payload has exited and no other process is left. Returns init's exit status. */
int reap_run(struct reap *r);
