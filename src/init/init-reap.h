/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "layer/init-proto.h"

struct init_options;

/* Descriptors that the loop polls; negative: none. */
struct reap {
	int socket;  /* supervisor */
	int pipe;    /* errno of a failed exec */
	int signals; /* signalfd */
	long payload;
	uint64_t time_ms, grace_ms; /* 0: no limit */
	const char *name;	    /* for messages */
	struct init_msg *msg;	    /* buffer for messages */
	bool exec; /* a further command, below PID 1: only processes below this one are killed */

	/* For further commands, of PID 1; OPTIONS NULL: none are started. */
	const struct init_options *options;
	uint64_t core_soft; /* original RLIMIT_CORE */
};

/* signalfd with everything that is forwarded or reaped, or negative errno.  All signals must be blocked. */
long reap_signals(void);

/* Runs until the payload has exited and no other process is left. Returns init's exit status. */
int reap_run(struct reap *r);
