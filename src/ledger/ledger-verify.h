/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "ledger/ledger-checkpoint.h"
#include "ledger/ledger-seal.h"

/*
 * Two results. Integrity: are these the records that were written, and all of them? Completeness: does every
 * session have an intent and an end? Nothing is written, memory is bounded, input may be split at any byte.
 */
enum ledger_verify_status { /* also the exit status */
			    VERIFY_OK = 0,
			    VERIFY_TAMPERED = 1,
			    VERIFY_TORN = 2,  /* the last write was interrupted by a power cut or a kill */
			    VERIFY_SHORT = 3, /* a checkpoint or the seal covers more records */
			    VERIFY_BARE =
				    4, /* consistent, but no seal, checkpoint or anchor covers all of it */
};

#define VERIFY_KEYS_MAX 64 /* keys of checkpoints; the newest count */
#define VERIFY_NAMES_MAX 8

struct ledger_verify_options {
	const struct digest *k0; /* first seal keys: of the ledger, and of each seal.new */
	size_t n_k0;
	const struct seal *seal; /* NULL: none */
	bool seal_is_of_this_boot;
	const struct checkpoint *checkpoints; /* with the texts they point to */
	size_t n_checkpoints;
	size_t n_local; /* the last N_LOCAL of them lie beside the records: they prove nothing alone */
	const struct checkpoint_key *key; /* pinned by the caller; NULL: keys named by the ledger itself */
	const struct checkpoint_key
		*current; /* of the public file; the last one that the ledger names; NULL: no file */
	const struct ledger_mark *anchor; /* where it must end, from another ledger; NULL: not known */
	bool from_checkpoint;		  /* the beginning may be missing if a checkpoint covers the rest */
};

/* The number and the first few names. */
#define VERIFY_NAME_SIZE 72 /* a grant is named by 64 hex digits */
struct ledger_verify_names {
	uint64_t n;
	char name[VERIFY_NAMES_MAX][VERIFY_NAME_SIZE];
};

struct ledger_verify_result {
	enum ledger_verify_status status;
	uint64_t first, next; /* seq of the first record, and of the one after the last valid one */
	uint64_t bytes;	      /* valid bytes */
	uint64_t proven;      /* the records before this one are covered by a reference from elsewhere */
	uint64_t bad_seq, bad_offset; /* offset in the current file; unless OK or BARE */
	uint64_t bad_segment;	      /* the current file; UINT64_MAX: a single one */
	char why[160];
	bool beside;		  /* WHY is about a file beside the records */
	uint64_t sealed;	  /* records whose seal was checked */
	uint64_t checkpoints;	  /* verified checkpoints */
	uint64_t own_checkpoints; /* of them: signed with a key that only these records name */
	bool has_rotated;	  /* the last record ends its segment */
	bool seal_fits;		  /* the record of the seal's end was verified */
	bool anchored;
	uint64_t gaps, lost; /* seal.gap: how often, how many records */
	uint64_t recovered, clock_back, new_seals;
	struct ledger_verify_names unended;   /* sessions with an intent or start and no end */
	struct ledger_verify_names unbegun;   /* ends and starts without an intent */
	struct ledger_verify_names unasked;   /* grants without a request */
	struct ledger_verify_names unfounded; /* uses without a grant */
	struct ledger_verify_names overused;  /* uses beyond those of their grant */
	bool names_overflow;		      /* too many open sessions: completeness is not known */
	struct digest head;		      /* h of the last valid record */
};

struct ledger_verify;

struct ledger_verify *
ledger_verify_new(const struct ledger_verify_options *o); /* borrows all of O; NULL on ENOMEM */
void ledger_verify_free(struct ledger_verify *v);
DEFINE_CLEANUP(struct ledger_verify, ledger_verify_free)
#define _cleanup_ledger_verify_ _cleanup_(ledger_verify_freep)

void ledger_verify_segment(struct ledger_verify *v,
			   uint64_t first); /* begins a new file; FIRST is the seq of its name */
bool ledger_verify_feed(struct ledger_verify *v, const char *bytes,
			size_t len); /* false: the result is known */
void ledger_verify_end(struct ledger_verify *v, struct ledger_verify_result *ret);
