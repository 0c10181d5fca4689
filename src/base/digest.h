/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define DIGEST_SIZE 32
#define DIGEST_HEX_SIZE (2 * DIGEST_SIZE + 1)

struct digest {
	uint8_t bytes[DIGEST_SIZE];
};

void digest_bytes(const void *bytes, size_t len, struct digest *ret);		 /* SHA-256 */
void digest_hmac(const void *key, size_t key_len, const void *bytes, size_t len, /* HMAC-SHA-256 */
		 struct digest *ret);
int digest_fd(int fd, struct digest *ret,
	      struct fault *f) _must_check_; /* from the current offset to the end */
void digest_to_hex(const struct digest *d, char hex[DIGEST_HEX_SIZE]);
int digest_from_hex(const char *hex, struct digest *ret); /* exactly 64 lower-case digits, else -EINVAL */
int digest_equal(const struct digest *a, const struct digest *b); /* constant time */
void digest_hex(const void *bytes, size_t len, char *hex);	  /* 2 * LEN digits and a NUL */
