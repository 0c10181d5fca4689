/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/broker-token.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

int broker_token_make(char token[BROKER_TOKEN_SIZE], struct digest *ret_hash, struct fault *f)
{
	unsigned char bytes[DIGEST_SIZE];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return fault_errno(f, errno, "token of the broker");
	digest_hex(bytes, sizeof(bytes), token);
	explicit_bzero(bytes, sizeof(bytes));
	digest_bytes(token, BROKER_TOKEN_SIZE - 1, ret_hash);
	return 0;
}

/* The hashes are compared: how long that takes says nothing about the token. */
bool broker_token_is(const struct digest *hash, const char *text)
{
	struct digest d;

	digest_bytes(text ? text : "", text ? strlen(text) : 0, &d);
	return digest_equal(hash, &d) && text;
}

void broker_token_hide(const struct digest *hash, char *text)
{
	const size_t len = BROKER_TOKEN_SIZE - 1;

	while (*text) {
		size_t run = strspn(text, "0123456789abcdef");
		struct digest d;

		for (; run >= len; run--, text++) {
			digest_bytes(text, len, &d);
			if (digest_equal(hash, &d))
				memset(text, '*', len);
		}
		text += run + strcspn(text + run, "0123456789abcdef");
	}
}
