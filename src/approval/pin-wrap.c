/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <crypt.h>
#include <errno.h>
#include <nettle/chacha-poly1305.h>
#include <nettle/memops.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/digest.h"
#include "approval/pin-impl.h"

/* Associated data of the box: no box is valid for another name, lane or key. */
#define BELONGING_SIZE (sizeof("custody pin key 1\n\n\n") + 16 + APPROVER_NAME_MAX + APPROVER_KEY_SIZE)

static size_t belonging(const struct approver *a, char text[BELONGING_SIZE])
{
	char hex[APPROVER_KEY_SIZE];

	approver_key_text(&a->pin_key, hex);
	return (size_t)snprintf(text, BELONGING_SIZE, "custody pin key 1\n%s\n%s\n%s", a->lane, a->name, hex);
}

static int fill_random(void *bytes, size_t len, struct fault *f)
{
	ssize_t n;

	do
		n = getrandom(bytes, len, 0);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len ? 0 : fault_errno(f, n < 0 ? errno : EIO, "getrandom");
}

/* The yescrypt hash is secret here: it is the key, and only its setting is stored. */
static int derive(const char *pin, const struct approver_file *k, uint8_t key[CHACHA_POLY1305_KEY_SIZE],
		  struct fault *f)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	char text[BELONGING_SIZE];
	size_t len = belonging(&k->public, text);
	struct digest d;
	const char *hash;
	int code = 0;

	_Static_assert(sizeof(d.bytes) == CHACHA_POLY1305_KEY_SIZE, "a digest is a key");
	if (!data)
		return fault_errno(f, ENOMEM, "the PIN");
	(void)mlock(data, sizeof(*data));
	hash = crypt_r(pin, k->setting, data);
	if (!hash || hash[0] == '*') {
		code = errno ? errno : EINVAL;
	} else {
		digest_hmac(hash, strlen(hash), text, len, &d);
		memcpy(key, d.bytes, sizeof(d.bytes));
		explicit_bzero(&d, sizeof(d));
	}
	explicit_bzero(data, sizeof(*data));
	(void)munlock(data, sizeof(*data));
	free(data);
	return code ? fault_errno(f, code, "yescrypt of the PIN") : 0;
}

static void seal(const struct approver_file *k, const uint8_t key[CHACHA_POLY1305_KEY_SIZE], bool opening,
		 const uint8_t *in, uint8_t out[32], uint8_t tag[16])
{
	struct chacha_poly1305_ctx ctx;
	char text[BELONGING_SIZE];
	size_t len = belonging(&k->public, text);

	_Static_assert(sizeof(k->nonce) == CHACHA_POLY1305_NONCE_SIZE, "a nonce of ChaCha20-Poly1305");
	_Static_assert(sizeof(k->box) == 32 + CHACHA_POLY1305_DIGEST_SIZE, "a seed and a tag");
	chacha_poly1305_set_key(&ctx, key);
	chacha_poly1305_set_nonce(&ctx, k->nonce);
	chacha_poly1305_update(&ctx, len, (const uint8_t *)text);
	if (opening)
		chacha_poly1305_decrypt(&ctx, 32, out, in);
	else
		chacha_poly1305_encrypt(&ctx, 32, out, in);
	chacha_poly1305_digest(&ctx, CHACHA_POLY1305_DIGEST_SIZE, tag);
	explicit_bzero(&ctx, sizeof(ctx));
}

int pin_wrap(const char *pin, unsigned int cost, const struct sign_secret *secret, struct approver_file *k,
	     struct fault *f)
{
	uint8_t key[CHACHA_POLY1305_KEY_SIZE], salt[16];
	int r;

	r = fill_random(salt, sizeof(salt), f);
	if (r == 0)
		r = fill_random(k->nonce, sizeof(k->nonce), f);
	if (r < 0)
		return r;
	if (!crypt_gensalt_rn("$y$", cost, (const char *)salt, sizeof(salt), k->setting, sizeof(k->setting)))
		return fault_errno(f, errno, "yescrypt with cost %u", cost);
	k->public.pin_key = secret->public;
	k->public.has_pin_key = k->has_box = true;
	approver_key_id(&k->public.pin_key, k->public.pin_key_id);
	r = derive(pin, k, key, f);
	if (r == 0)
		seal(k, key, false, secret->seed, k->box, k->box + 32);
	explicit_bzero(key, sizeof(key));
	return r;
}

int pin_unwrap(const char *pin, const struct approver_file *k, struct sign_secret *ret_secret,
	       struct fault *f)
{
	uint8_t key[CHACHA_POLY1305_KEY_SIZE], seed[32], tag[CHACHA_POLY1305_DIGEST_SIZE];
	_cleanup_sign_ struct sign_secret secret = { 0 };
	bool right;
	int r;

	r = derive(pin, k, key, f);
	if (r < 0)
		return r;
	seal(k, key, true, k->box, seed, tag);
	explicit_bzero(key, sizeof(key));
	right = memeql_sec(tag, k->box + 32, sizeof(tag));
	if (right) {
		sign_from_seed(seed, &secret);
		/* Differs only if our own file is inconsistent; then it must not sign anything. */
		right = memcmp(&secret.public, &k->public.pin_key, sizeof(secret.public)) == 0;
	}
	if (right)
		*ret_secret = secret;
	explicit_bzero(seed, sizeof(seed));
	return right;
}
