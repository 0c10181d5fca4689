/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#include "container/warden-handover.h"

/*
 * custody-warden's side of the gate (layer/init-proto.h), at which custody-init waits before it executes the command.
 * Exactly one connection is served, that of the container's first process.
 */
struct container_gate {
	int listener, dir; /* -EBADF: not received yet, or the first process has connected */
	int peer;	   /* the first process's connection */
	bool used;	   /* it has connected */
};
#define CONTAINER_GATE_NONE ((struct container_gate){ .listener = -EBADF, .dir = -EBADF, .peer = -EBADF })

/* Takes the descriptors of H. */
void container_gate_take(struct container_gate *g, struct warden_held *h);

/*
 * Accepts waiting connections.  All but that of process PID are closed.  PIDFD is of that process, which is older than the
 * gate: while it is alive no other process can have its pid.
 */
void container_gate_accept(struct container_gate *g, int pidfd, pid_t pid);

/* Is init ready to execute the command?  End of file and any other message close the connection. */
bool container_gate_is_ready(struct container_gate *g);

/* Sends GO, or with WHY the refusal, and closes.  False: it was not delivered. */
bool container_gate_answer(struct container_gate *g, const char *why);

void container_gate_done(struct container_gate *g);
