/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "layer/init-proto.h"

/* Descriptors that the loop watches; negative: not there. */
struct reap {
	int socket;  /* supervisor */
	int pipe;    /* errno of a failed exec */
	int signals; /* signalfd */
	long payload;
	uint64_t time_ms, grace_ms; /* 0: no limit */
	const char *name;	    /* for messages */
	struct init_msg *msg;	    /* room to build messages in */
};

/* signalfd with everything that is forwarded or reaped, or negative errno.  All signals must be blocked. */
long reap_signals(void);

/* Until the payload ended and nobody else is left.  Returns the status that init exits with. */
int reap_run(struct reap *r);
