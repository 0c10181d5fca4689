/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "state/dirs.h"

/*
 * The lane's key for what a subject must name but may not show: values of the environment.  With it a digest is the
 * same for the same values, and nobody without it can try values against a digest.
 */
#define DIGEST_KEY_SIZE 32
#define DIGEST_KEY_FILE "digest.key" /* in the lane's state directory, 0600: 64 hex digits and a newline */

struct digest_key {
	uint8_t bytes[DIGEST_KEY_SIZE];
};

/*
 * CONFIGURED (custody.json `digest_key`, 64 hex digits; NULL: none) wins.  Else the lane's file; where there is none it
 * is made when CREATE says so (two that start at once get the same one), else -ENOENT.
 */
int digest_key_load(const struct dirs *d, const char *configured, bool create, struct digest_key *ret,
		    struct fault *f) _must_check_;
void digest_key_done(struct digest_key *k); /* wipes it */
#define _cleanup_digest_key_ _cleanup_(digest_key_done)
