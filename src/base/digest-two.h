/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * SHA-256 of two streams at once.  The processor's own instructions for it wait for each other's results most of the time; two streams
 * side by side fill that time: a third more bytes per second than one after the other.  No library that Debian has takes two streams in
 * pieces.  Everything but the whole blocks that both have is nettle's.
 */

/* Asks the processor, which may cost as much as hashing 100 KB: ask once. */
bool digest_two_is_there(void);

/* sha256_update of both.  Only where digest_two_is_there. */
void digest_two_update(struct sha256_ctx *a, size_t a_len, const void *a_bytes, struct sha256_ctx *b,
		       size_t b_len, const void *b_bytes);
