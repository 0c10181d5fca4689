/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Ed25519. */
#define SIGN_SIZE 64

struct sign_public {
	uint8_t bytes[32];
};

struct sign_secret {
	uint8_t seed[32];
	struct sign_public public; /* of SEED */
};

int sign_new(struct sign_secret *ret, struct fault *f) _must_check_;
void sign_from_seed(const uint8_t seed[32], struct sign_secret *ret);
void sign_bytes(const struct sign_secret *key, const void *bytes, size_t len, uint8_t signature[SIGN_SIZE]);
bool sign_verify(const struct sign_public *key, const void *bytes, size_t len,
		 const uint8_t signature[SIGN_SIZE]);
void sign_done(struct sign_secret *key); /* wipes it */
#define _cleanup_sign_ _cleanup_(sign_done)
