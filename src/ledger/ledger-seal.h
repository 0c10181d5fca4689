/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/fault.h"

/*
 * The seal: one key per record, K[n+1] = HMAC(K[n], label), the old one overwritten. An attacker with
 * the current key cannot forge earlier records. The key's number follows from the record's, never from a
 * clock.
 *
 * The state also records how the ledger ends, so that a truncated tail, a replaced tail and a rewritten chain
 * are detected without any key. It is written under the ledger's lock after the records are, in one write
 * within one sector: it may lag behind the ledger after a kill (then the records prove themselves with their
 * seals), and be ahead of it only after a power cut, by the unsynced records.
 */
struct seal {
	char magic[8];
	uint64_t index;		/* records so far, hence seq of the next */
	uint64_t segment;	/* first seq of the live segment */
	uint64_t offset;	/* its size after record index - 1 */
	uint64_t last_len;	/* bytes of record index - 1; 0: it is in an older segment */
	uint64_t rotated;	/* 1: the last record is ledger.rotate, the next goes into the next segment */
	uint64_t synced_index;	/* number of synced records, */
	uint64_t synced_offset; /* in the live segment up to here */
	uint64_t wall_us;	/* time of the last record */
	char boot[8];		/* boot in which the state was written */
	struct digest head;	/* h of record index - 1 */
	struct digest key;	/* for record INDEX */
	struct digest check;	/* SHA-256 of all before it */
};

#define SEAL_FILE "seal"

int seal_new(struct seal *ret, struct fault *f) _must_check_;	       /* random key, index 0 */
int seal_read(int fd, struct seal *ret, struct fault *f) _must_check_; /* -EBADMSG: not a seal */
void seal_set_check(struct seal *s);
int seal_write(int fd, struct seal *s, struct fault *f) _must_check_; /* sets the check; not synced */
void seal_done(struct seal *s);
#define _cleanup_seal_ _cleanup_(seal_done)

void seal_mac(const struct digest *key, const void *bytes, size_t len, struct digest *ret);
void seal_evolve(struct digest *key, uint64_t steps);
void seal_commitment(const struct digest *key,
		     char hex[DIGEST_HEX_SIZE]); /* commitment of ledger.open to K0 */
