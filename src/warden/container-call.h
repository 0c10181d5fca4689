/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <errno.h>
#include <poll.h>

#include "container/warden-call.h"

/*
 * custody-warden's side of container/warden-call.h: the listening socket and its connections, which are served side by side.
 * What a message means is the caller's: container-engine.c.
 */
#define CONTAINER_CALL_PEERS 32
#define CONTAINER_CALL_POLLS (1 + CONTAINER_CALL_PEERS)

struct container_call {
	int listener; /* -EBADF: not an engine's container */
	int peers[CONTAINER_CALL_PEERS];
	size_t n_peers;
};
#define CONTAINER_CALL_NONE ((struct container_call){ .listener = -EBADF })

/* The answer to M, which came with FDS; the caller closes those that are left in FDS.  NULL: OK, else why not. */
typedef const char *(*container_call_fn)(void *arg, const struct warden_call *m, int fds[WARDEN_CALL_FDS]);

/* Fills P, CONTAINER_CALL_POLLS of them; unused ones have the descriptor -1. */
void container_call_poll(const struct container_call *c, struct pollfd *p);
/* After poll: accepts connections, answers messages. */
void container_call_step(struct container_call *c, const struct pollfd *p, container_call_fn answer,
			 void *arg);
void container_call_done(struct container_call *c);
