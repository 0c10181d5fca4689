/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sign.h"

#include <errno.h>
#include <nettle/eddsa.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(SIGN_SIZE == ED25519_SIGNATURE_SIZE, "a signature is Ed25519");

void sign_from_seed(const uint8_t seed[32], struct sign_secret *ret)
{
	memmove(ret->seed, seed, sizeof(ret->seed));
	ed25519_sha512_public_key(ret->public.bytes, ret->seed);
}

int sign_new(struct sign_secret *ret, struct fault *f)
{
	uint8_t seed[32];
	ssize_t n;

	do
		n = getrandom(seed, sizeof(seed), 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(seed))
		return fault_errno(f, n < 0 ? errno : EIO, "getrandom");
	sign_from_seed(seed, ret);
	explicit_bzero(seed, sizeof(seed));
	return 0;
}

void sign_bytes(const struct sign_secret *key, const void *bytes, size_t len, uint8_t signature[SIGN_SIZE])
{
	ed25519_sha512_sign(key->public.bytes, key->seed, len, bytes, signature);
}

bool sign_verify(const struct sign_public *key, const void *bytes, size_t len,
		 const uint8_t signature[SIGN_SIZE])
{
	return ed25519_sha512_verify(key->bytes, len, bytes, signature) == 1;
}

void sign_done(struct sign_secret *key)
{
	explicit_bzero(key, sizeof(*key));
}
