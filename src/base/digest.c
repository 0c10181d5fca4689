/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"

#include <errno.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <string.h>
#include <unistd.h>

#define READ_STEP 65536

_Static_assert(DIGEST_SIZE == SHA256_DIGEST_SIZE, "a digest is SHA-256");

void digest_bytes(const void *bytes, size_t len, struct digest *ret)
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	if (len > 0)
		sha256_update(&ctx, len, bytes);
	sha256_digest(&ctx, sizeof(ret->bytes), ret->bytes);
}

void digest_hmac(const void *key, size_t key_len, const void *bytes, size_t len, struct digest *ret)
{
	struct hmac_sha256_ctx ctx;

	hmac_sha256_set_key(&ctx, key_len, key_len > 0 ? key : (const void *)"");
	if (len > 0)
		hmac_sha256_update(&ctx, len, bytes);
	hmac_sha256_digest(&ctx, sizeof(ret->bytes), ret->bytes);
	/* These two inner states suffice to compute HMACs without the key. */
	explicit_bzero(&ctx, sizeof(ctx));
}

int digest_fd(int fd, struct digest *ret, struct fault *f)
{
	_cleanup_free_ uint8_t *buf = malloc(READ_STEP);
	struct sha256_ctx ctx;

	if (!buf)
		return fault_errno(f, ENOMEM, "read buffer");
	sha256_init(&ctx);
	for (;;) {
		ssize_t n = read(fd, buf, READ_STEP);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read");
		if (n == 0)
			break;
		sha256_update(&ctx, (size_t)n, buf);
	}
	sha256_digest(&ctx, sizeof(ret->bytes), ret->bytes);
	return 0;
}

void digest_hex(const void *bytes, size_t len, char *hex)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++) {
		*hex++ = digits[p[i] >> 4];
		*hex++ = digits[p[i] & 15];
	}
	*hex = '\0';
}

void digest_to_hex(const struct digest *d, char hex[DIGEST_HEX_SIZE])
{
	digest_hex(d->bytes, sizeof(d->bytes), hex);
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int digest_from_hex(const char *hex, struct digest *ret)
{
	struct digest d;

	for (size_t i = 0; i < DIGEST_SIZE; i++) {
		int high = nibble(hex[2 * i]), low = high < 0 ? -1 : nibble(hex[2 * i + 1]);

		if (low < 0)
			return -EINVAL;
		d.bytes[i] = (uint8_t)(high << 4 | low);
	}
	if (hex[2 * DIGEST_SIZE])
		return -EINVAL;
	*ret = d;
	return 0;
}

int digest_equal(const struct digest *a, const struct digest *b)
{
	return memeql_sec(a->bytes, b->bytes, sizeof(a->bytes));
}
