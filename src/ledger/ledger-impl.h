/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/types.h>

#include "ledger/ledger-record.h"
#include "ledger/ledger-seal.h"
#include "ledger/ledger-segment.h"
#include "ledger/ledger.h"

/*
 * Private to the ledger.  Rules of all writers:
 *
 * 1. The lock file is locked, never a data file, and never renamed.
 * 2. Records are written before the seal; the seal is written before the lock is released.
 * 3. Nothing is synced under the lock, except in a rotation.
 * 4. Sealed records are never truncated; bytes after them are moved to a torn- file, never dropped.
 * 5. A seal that does not match the ledger stops every writer (-EUCLEAN) until an operator repairs it.
 */
#define LEDGER_DIR "ledger"
#define LEDGER_KEYS_DIR "ledger-keys"
#define LEDGER_LOCK "lock"
#define LEDGER_SYNC_LOCK "lock-sync"
#define LEDGER_RESERVE "reserve"
#define LEDGER_RESERVE_SIZE (256 * 1024)
#define LEDGER_CHECKPOINTS "checkpoints"
#define LEDGER_PUBLIC "public"
#define LEDGER_KEY "key"

struct ledger {
	int dirfd, keysfd;
	int lockfd, syncfd, sealfd;
	void *futex; /* ledger-sync.c: where this process waits while another one syncs; NULL: not mapped yet */
	pid_t pid;   /* the process that opened the lock files: a forked child would share the lock */
	int segfd;
	uint64_t segment;  /* of SEGFD; UINT64_MAX: none */
	bool tail_checked; /* the last record was hashed by this handle */
	bool rotated;	   /* by this handle, and not signed since */
	char boot[9];
	uint64_t segment_max;
	uint64_t (*wall_us)(void);
	const struct redact *redact; /* of this process, besides the built-in rules; NULL: none */
	char *buf;		     /* lines to be written */
	size_t len, room;
	uint64_t written_index;	    /* records up to here may include ours */
	uint64_t unsynced_since_ns; /* 0: nothing unsynced */
};

/* Discards a failure that the caller handles. */
static inline void ledger_clear_fault(struct fault *f)
{
	if (f)
		fault_done(f);
}

/* ledger-lock.c */
int ledger_lock(struct ledger *l, int operation, struct fault *f) _must_check_;
int ledger_lock_sync(struct ledger *l, bool wait,
		     struct fault *f) _must_check_; /* 1: taken; 0: held by another process */
void ledger_sync_done(struct ledger *l);	    /* ledger-sync.c */
void ledger_unlock(struct ledger *l);
void ledger_unlock_sync(struct ledger *l);
static inline void ledger_unlockp(struct ledger **l)
{
	if (*l)
		ledger_unlock(*l);
}
#define _cleanup_ledger_unlock_ _cleanup_(ledger_unlockp)

/* ledger-open.c: directories, lock files, boot id; no seal yet. */
int ledger_open_dirs(const char *state, const struct ledger_options *o, struct ledger **ret,
		     struct fault *f) _must_check_;
int ledger_open_seal(struct ledger *l, struct fault *f) _must_check_; /* -ENOENT: missing */
int ledger_refuse_unsealed(struct fault *f) _must_check_;	      /* fails with -EUCLEAN and the fix */
int ledger_replace_seal(struct ledger *l, const struct seal *s, struct fault *f) _must_check_; /* durable */
int ledger_put_birth(struct ledger *l, struct seal *s, const char *kind, struct fault *f) _must_check_;
int ledger_make_reserve(struct ledger *l, struct fault *f) _must_check_;

/* ledger-segment.c */
int segment_list(int dirfd, uint64_t **ret, size_t *ret_n, struct fault *f) _must_check_; /* ascending */
int segment_open(struct ledger *l, uint64_t first, bool create, struct fault *f) _must_check_;
int segment_enter_next(struct ledger *l, struct seal *s, struct fault *f) _must_check_; /* S in memory only */
int segment_rotate(struct ledger *l, struct seal *s, struct fault *f) _must_check_;

/* Up to LEN bytes of a segment; *RET_LEN is less only at its end. */
int segment_read(int fd, uint64_t offset, void *bytes, size_t len, size_t *ret_len,
		 struct fault *f) _must_check_;

/* ledger-append.c: under the lock, with a seal that fits.  S is advanced in memory and on disk. */
int ledger_put_event(struct ledger *l, struct seal *s, const struct ledger_event *e,
		     struct fault *f) _must_check_;

/* ledger-recover.c: under the lock; makes S and the live segment agree, or refuses. */
int ledger_ready(struct ledger *l, struct seal *s, struct fault *f) _must_check_;
int ledger_accept_loss(struct ledger *l, struct seal *s, struct fault *f) _must_check_;
int ledger_find_end(struct ledger *l, struct seal *s,
		    struct fault *f) _must_check_; /* fills S except for the key */

/*
 * Pure: how far BYTES continue a chain whose next record has this seq and prev. Stops before the first byte
 * that does not, before a record with seq STOP, or before an incomplete line; WHY is set in the first case
 * only. KEY NULL: seals are not checked; else the key evolves along.
 */
struct ledger_tail {
	uint64_t seq, stop;
	struct digest head;
	size_t good; /* bytes */
	size_t last_len;
	bool rotated; /* the last record is ledger.rotate */
	const char *why;
};
void ledger_tail_scan(const char *bytes, size_t len, struct digest *key, struct ledger_tail *t);

/* ledger-torn.c: bytes that were moved from the end of the live segment to a torn- file. */
#define TORN_NAME_SIZE sizeof("torn-00000000000000000000-00000000000000000000")
struct ledger_torn {
	char name[TORN_NAME_SIZE];
	char sha256[DIGEST_HEX_SIZE];
	uint64_t bytes;
	const char *why;
};

/* Copies the live segment from FROM, where record SEQ should be, to its end; synced before it is truncated. */
int ledger_torn_move(struct ledger *l, uint64_t seq, uint64_t from, struct ledger_torn *torn,
		     struct fault *f) _must_check_;
int ledger_torn_record(struct ledger *l, struct seal *s, const struct ledger_torn *torn, uint64_t lost,
		       struct fault *f) _must_check_; /* ledger.recovered */
