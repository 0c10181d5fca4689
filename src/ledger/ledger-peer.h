/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "ledger/ledger-export.h"

/*
 * Audit peers: destinations outside the writer's reach that receive every checkpoint, or every record.
 * STATE/audit_peer names them:
 *
 *	{"peers": [{"name": "witness", "type": "dgram", "path": "/run/witness.sock"},
 *	           {"name": "share", "type": "file", "path": "/mnt/audit/host1.notes", "send": "records"},
 *	           {"name": "siem", "type": "syslog", "address": "127.0.0.1:601", "format": "cef"}]}
 *
 * A peer may lag, but misses nothing: each has a cursor that advances only when the peer has received the
 * data (a socket's reader has read it, a host has acknowledged it, a file is synced). After a crash an item may be
 * sent twice. No command waits for a peer.
 */
#define PEER_FILE "audit_peer"
#define PEER_PUSH_MS 2000 /* for one peer and one push */

enum peer_type {
	PEER_NONE,
	PEER_DGRAM,  /* Unix socket, one checkpoint or record per datagram */
	PEER_STREAM, /* Unix socket, byte stream as in the files */
	PEER_APPEND, /* regular file, bytes as in the files */
	PEER_SYSLOG, /* TCP, records as messages of RFC 5424 with the length of each before it (RFC 6587) */
	PEER_TLS,    /* the same over TLS (RFC 5425), by custody-peer */
	PEER_HTTPS,  /* POST of lines, by custody-peer */
	_PEER_TYPE_MAX,
};

struct peer {
	char *name,
		*path; /* PATH: an address for PEER_SYSLOG, HOST:PORT for PEER_TLS, a URL for PEER_HTTPS */
	char *ca;      /* of the last two: certificates in place of the system's; NULL: the system's */
	enum peer_type type;
	bool records;		   /* else checkpoints */
	enum export_format format; /* PEER_SYSLOG and later */
};

struct peers {
	struct peer *items;
	size_t n;
};

int peer_load(const char *state, struct peers *ret, struct fault *f) _must_check_; /* no file: none */
void peer_done(struct peers *p);
#define _cleanup_peers_ _cleanup_(peer_done)

struct peer_state {
	uint64_t sent;	 /* records that the peer has received */
	uint64_t behind; /* records that it has not received */
	uint64_t lost;	 /* records that were gone or damaged when it was their turn */
	char error[160]; /* of the last try; "" on success */
};

int peer_state(const char *state, const struct peer *p, struct peer_state *ret, struct fault *f) _must_check_;

/* Sends all pending items. Failures are stored in the peer's state, not in F. */
int peer_push(const char *state, const struct peers *p, struct fault *f) _must_check_;

/* The same in a detached process. Does nothing without peers. */
void peer_kick(const char *state);
