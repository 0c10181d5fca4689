/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/json.h"

/*
 * A tamper-evident hash chain: one line per record, each with the hash of the previous one, each sealed with
 * a key that exists only until the next. docs/design/ledger.md has the format and the attacks.
 *
 * STATE is the lane's directory (dirs.state).  STATE/ledger holds the segments and may be copied anywhere;
 * STATE/ledger-keys holds the seal and the signing key and never leaves.  Many processes may append at the same time;
 * one struct ledger belongs to one thread.
 */
#define LEDGER_LINE_MAX 65536 /* a record with its LF */
#define LEDGER_SEGMENT_MAX ((uint64_t)64 * 1024 * 1024)
#define LEDGER_SYNC_MS 100 /* maximal delay until an observation is synced */
#define LEDGER_ALIVE_MS \
	(60 * 1000) /* between two heartbeats of a live session, so that a dead one is detected */

struct ledger;

/*
 * A decision is synced before the call returns, hence before the action. An observation is written at once
 * and synced within LEDGER_SYNC_MS by ledger_sync. An end must be recorded even if the disk is full: it may
 * use the space reserved at init, and decisions are refused until that is restored.
 */
enum ledger_class {
	LEDGER_DECIDED,
	LEDGER_OBSERVED,
	LEDGER_CLOSING,
};

struct ledger_event {
	const char *kind;		      /* "session.start": lower case, dots, dashes */
	const char *session, *agent, *worker; /* NULL: left out */
	const char *status;		      /* NULL: "ok" */
	const struct jdoc *d;		      /* an object, borrowed; NULL: {} */
	bool verbatim;			      /* D holds only keys and digests: no redaction */
};

/* A position in the chain: SIZE records, HEAD the h of the last of them. */
struct ledger_mark {
	uint64_t size;
	struct digest head;
};

/* For tests and tools; zero means the default. */
struct ledger_options {
	bool create;	  /* create the ledger if it is missing; else ENOENT */
	bool take_k0;	  /* the caller shows or stores RET_BIRTH's K0: it is not kept in LEDGER_FIRST_KEY */
	const char *boot; /* 8 hex digits instead of the kernel's boot id */
	uint64_t segment_max;
	uint64_t (*wall_us)(void);
};

/* First seal key, shown once, with the ledger's identity. */
struct ledger_birth {
	bool made; /* by this call */
	char k0[DIGEST_HEX_SIZE];
};

/* In ledger-keys, 0400: the first seal key of a ledger that no 'custody ledger init' created. */
#define LEDGER_FIRST_KEY "first-seal-key"

/* OPTIONS and RET_BIRTH may be NULL. */
int ledger_open(const char *state, const struct ledger_options *options, struct ledger **ret,
		struct ledger_birth *ret_birth, struct fault *f) _must_check_;
void ledger_free(struct ledger *l);
DEFINE_CLEANUP(struct ledger, ledger_free)
#define _cleanup_ledger_ _cleanup_(ledger_freep)

/*
 * All N events in one write, in order, or none. RET_MARK (may be NULL): the chain right after the last of
 * them. -EUCLEAN: the ledger is shorter than or different from its seal; nothing is written until `custody
 * ledger repair`.
 */
int ledger_append(struct ledger *l, const struct ledger_event *events, size_t n, enum ledger_class class,
		  struct ledger_mark *ret_mark, struct fault *f) _must_check_;

/*
 * From now on RULES apply to the records of this handle besides the built-in ones: secrets that this process knows.  Borrowed.
 * Records that are `verbatim` are not redacted.
 */
struct redact;
void ledger_set_redact(struct ledger *l, const struct redact *rules);

/* Syncs all records written through this handle. */
int ledger_sync(struct ledger *l, struct fault *f) _must_check_;
int ledger_sync_due_ms(const struct ledger *l); /* until ledger_sync should be called; -1: nothing to sync */

/*
 * Decisions of an operator.  RET_BIRTH gets the key of a new seal.
 *	TAIL		ends a torn tail now instead of at the next append
 *	ACCEPT_LOSS	continues after records were removed or changed; recorded as seal.gap
 *	NEW_SEAL	new seal after the old one was lost; recorded as seal.new
 *	NEW_KEY		new key for checkpoints; recorded as ledger.key
 */
enum ledger_repair {
	LEDGER_REPAIR_TAIL,
	LEDGER_REPAIR_ACCEPT_LOSS,
	LEDGER_REPAIR_NEW_SEAL,
	LEDGER_REPAIR_NEW_KEY,
};
int ledger_repair(const char *state, const struct ledger_options *options, enum ledger_repair what,
		  struct ledger_mark *ret_before, struct ledger_mark *ret_after,
		  struct ledger_birth *ret_birth, struct fault *f) _must_check_;

/* TEXT that need not be UTF-8 as a value: a string, or {"b64":"..."}. */
struct jdoc *ledger_text(const char *text);
