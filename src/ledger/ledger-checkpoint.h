/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/sign.h"
#include "ledger/ledger.h"

/*
 * A checkpoint: "the ledger ORIGIN has SIZE records and the last has this h", signed with the ledger's Ed25519 key,
 * as a signed note:
 *
 *	custody/ledger/<32 hex>
 *	42
 *	<base64 of the last record's h>
 *
 *	<em dash> custody/ledger/<32 hex> <base64 of key id and signature>
 *
 * It is proof only if it is stored outside the reach of the ledger's writer: at an audit peer.
 */
#define ORIGIN_PREFIX "custody/ledger/"
#define ORIGIN_SIZE (sizeof(ORIGIN_PREFIX) + 32)
#define CHECKPOINT_MAX 1024

struct checkpoint {
	char origin[ORIGIN_SIZE];
	struct ledger_mark mark;
	uint8_t signature[SIGN_SIZE];
	uint8_t key_id[4];
	const char *text; /* the signed text, borrowed */
	size_t text_len;
};

/* Public key in text form: "ORIGIN+<key id, 8 hex>+<base64>". */
struct checkpoint_key {
	char origin[ORIGIN_SIZE];
	uint8_t key_id[4];
	struct sign_public public;
};

void checkpoint_key_init(const char *origin, const struct sign_public *public, struct checkpoint_key *ret);
char *checkpoint_key_text(const struct checkpoint_key *key); /* heap, NULL on ENOMEM */
int checkpoint_key_parse(const char *text, struct checkpoint_key *ret, struct fault *f) _must_check_;

/* The first checkpoint in TEXT (a file may hold many); RET_LEN: its bytes.  -ENODATA: none begins here. */
int checkpoint_parse(const char *text, size_t len, struct checkpoint *ret, size_t *ret_len) _must_check_;
char *checkpoint_sign(const struct checkpoint_key *key, const struct sign_secret *secret,
		      const struct ledger_mark *mark); /* heap, NULL on ENOMEM */
bool checkpoint_verify(const struct checkpoint *n, const struct checkpoint_key *key);

/* Creates the key and identity of a new ledger, unless they exist. */
int checkpoint_key_create(int dirfd, int keysfd, struct fault *f) _must_check_;
int checkpoint_public_load(int dirfd, char **ret, struct fault *f) _must_check_; /* one line, without LF */

/*
 * The identity of the ledger in STATEFD: its public key in text form, heap, once the private key is known to belong to
 * it.  A copied public file is no identity.  -ENOENT with nothing in F: no ledger.
 */
int checkpoint_identity(int statefd, char **ret, struct fault *f) _must_check_;

int checkpoint_key_replace(struct ledger *l, struct jdoc *d,
			   struct fault *f) _must_check_; /* D: data for its record */

/*
 * Syncs the ledger, signs its current end, and stores the checkpoint beside the segments. RET_TEXT (heap) may
 * be NULL.
 */
int ledger_checkpoint(struct ledger *l, char **ret_text, struct ledger_mark *ret_mark,
		      struct fault *f) _must_check_;
