/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-seal.h"

/*
 * Two questions, two answers.  Integrity: are these the records that were written, and all of them?  Completeness: do
 * they tell whole stories?  Nothing is written, memory does not grow with the ledger, bytes come in any portions.
 */
enum ledger_verify_status { /* also the exit status */
			    VERIFY_OK = 0,
			    VERIFY_TAMPERED = 1,
			    VERIFY_TORN = 2, /* the end was being written when the power or the writer went */
			    VERIFY_SHORT = 3, /* a checkpoint or the seal knows more records */
			    VERIFY_BARE = 4,  /* whole in itself, but nothing to hold against it */
};

#define VERIFY_KEYS_MAX 16
#define VERIFY_NAMES_MAX 8

struct ledger_verify_options {
	const struct digest *k0; /* first seal keys: of the ledger, and of each seal.new */
	size_t n_k0;
	const struct seal *seal; /* NULL: none */
	bool seal_is_of_this_boot;
	const struct checkpoint *checkpoints; /* with the texts they point to */
	size_t n_checkpoints;
	const struct checkpoint_key *key; /* pinned from outside; NULL: what the ledger says of itself */
	const struct ledger_mark *anchor; /* where it must end, told by another ledger; NULL: not known */
	bool from_checkpoint; /* the beginning may be missing if a checkpoint vouches for what follows */
};

/* A few of many, so that a person has a name to look for. */
struct ledger_verify_names {
	uint64_t n;
	char name[VERIFY_NAMES_MAX][64];
};

struct ledger_verify_result {
	enum ledger_verify_status status;
	uint64_t first,
		next;	/* seq of the first record seen, and of the one that would follow the last good one */
	uint64_t bytes; /* good ones */
	uint64_t bad_seq, bad_offset; /* offset in the file that was fed; unless OK or BARE */
	uint64_t bad_segment;	      /* which that was; UINT64_MAX: there is but one */
	char why[160];
	uint64_t sealed;      /* records whose seal was checked */
	uint64_t checkpoints; /* checkpoints that hold */
	bool seal_fits;	      /* the seal's end is on the way */
	bool anchored;
	uint64_t gaps, lost; /* seal.gap: how often, how many records */
	uint64_t recovered, clock_back, new_seals;
	struct ledger_verify_names unended; /* sessions with an intent or start and no end */
	struct ledger_verify_names unbegun; /* ends and starts without an intent */
	struct ledger_verify_names unasked; /* grants without a request */
	bool names_overflow; /* more sessions at once than are followed: completeness is not known */
	struct digest head;  /* h of the last good record */
};

struct ledger_verify;

struct ledger_verify *
ledger_verify_new(const struct ledger_verify_options *o); /* borrows all of O; NULL on ENOMEM */
void ledger_verify_free(struct ledger_verify *v);
DEFINE_CLEANUP(struct ledger_verify, ledger_verify_free)
#define _cleanup_ledger_verify_ _cleanup_(ledger_verify_freep)

void ledger_verify_segment(struct ledger_verify *v,
			   uint64_t first); /* a new file begins, its name says with which record */
bool ledger_verify_feed(struct ledger_verify *v, const char *bytes,
			size_t len); /* false: the answer is known */
void ledger_verify_end(struct ledger_verify *v, struct ledger_verify_result *ret);
