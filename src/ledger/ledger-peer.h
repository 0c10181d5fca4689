/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * Audit peers: places outside the writer's reach that get every checkpoint, or every record.  STATE/audit_peer names
 * them:
 *
 *	{"peers": [{"name": "witness", "type": "dgram", "path": "/run/witness.sock"},
 *	           {"name": "share", "type": "file", "path": "/mnt/audit/host1.notes", "send": "records"}]}
 *
 * A peer may lag, it never loses: each has a cursor behind which nothing is forgotten, and the cursor moves only when
 * the peer has taken what was sent (a socket's reader has read it, a file is synced).  After a crash something may be
 * sent twice.  Nobody waits for a peer.
 */
#define PEER_FILE "audit_peer"
#define PEER_PUSH_MS 2000 /* for one peer and one push */

enum peer_type {
	PEER_NONE,
	PEER_DGRAM,  /* Unix socket, one checkpoint or record per datagram */
	PEER_STREAM, /* Unix socket, as they stand in the files */
	PEER_APPEND, /* regular file, as they stand in the files */
	_PEER_TYPE_MAX,
};

struct peer {
	char *name, *path;
	enum peer_type type;
	bool records; /* else checkpoints */
};

struct peers {
	struct peer *items;
	size_t n;
};

int peer_load(const char *state, struct peers *ret, struct fault *f) _must_check_; /* no file: none */
void peer_done(struct peers *p);
#define _cleanup_peers_ _cleanup_(peer_done)

struct peer_state {
	uint64_t sent;	 /* records that the peer knows of */
	uint64_t behind; /* and how many more there are */
	char error[160]; /* of the last try; "" when it went well */
};

int peer_state(const char *state, const struct peer *p, struct peer_state *ret, struct fault *f) _must_check_;

/* Sends what waits.  Failures go to the peer's state, not to F. */
int peer_push(const char *state, const struct peers *p, struct fault *f) _must_check_;

/* The same in a process of its own that nobody waits for.  Costs nothing without peers. */
void peer_kick(const char *state);
