/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * SHA-256 of two streams at once. The SHA instructions mostly wait for each other's results; two interleaved
 * streams fill that time: a third more bytes per second than one after the other. No library in Debian hashes
 * two streams incrementally. Only complete blocks of both streams are hashed here, everything else by nettle.
 */

/* Runs cpuid, which may cost as much as hashing 100 KB: call it once. */
bool digest_two_is_supported(void);

/* sha256_update of both.  Only where digest_two_is_supported. */
void digest_two_update(struct sha256_ctx *a, size_t a_len, const void *a_bytes, struct sha256_ctx *b,
		       size_t b_len, const void *b_bytes);
