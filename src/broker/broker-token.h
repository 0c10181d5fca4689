/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>

#include "base/digest.h"
#include "base/fault.h"

/* 32 random bytes as 64 hex digits.  The text goes into the container only; the broker keeps its SHA-256. */
#define BROKER_TOKEN_SIZE DIGEST_HEX_SIZE

int broker_token_make(char token[BROKER_TOKEN_SIZE], struct digest *ret_hash, struct fault *f) _must_check_;
/* In constant time; TEXT may be NULL or of any length. */
bool broker_token_is(const struct digest *hash, const char *text);
/* Overwrites each place of TEXT that is the token with stars. */
void broker_token_hide(const struct digest *hash, char *text);
