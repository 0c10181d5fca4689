/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "state/dirs.h"

/*
 * The lane's key for secrets in a subject: values of the environment. Equal values give equal digests, and
 * without the key values cannot be guessed by trial.
 */
#define DIGEST_KEY_SIZE 32
#define DIGEST_KEY_FILE "digest.key" /* in the lane's state directory, 0600: 64 hex digits and a newline */

struct digest_key {
	uint8_t bytes[DIGEST_KEY_SIZE];
};

/*
 * CONFIGURED (custody.json `digest_key`, 64 hex digits; NULL: none) wins. Else the lane's file; if it is
 * missing, it is created with CREATE (concurrent callers get the same key), else -ENOENT.
 */
int digest_key_load(const struct dirs *d, const char *configured, bool create, struct digest_key *ret,
		    struct fault *f) _must_check_;
void digest_key_done(struct digest_key *k); /* wipes it */
#define _cleanup_digest_key_ _cleanup_(digest_key_done)
