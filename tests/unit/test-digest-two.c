/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two streams at once must have the digests that each has alone, however they are cut. */
#include "base/digest-two.h"

#include <stdint.h>
#include <string.h>

#include "base/digest.h"
#include "tap.h"

#define LEN_MAX 1000

static uint8_t bytes[2][LEN_MAX + 16];

static uint32_t draw(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

static bool is_right(struct sha256_ctx *ctx, const uint8_t *all, size_t len)
{
	struct digest alone, is;

	digest_bytes(all, len, &alone);
	sha256_digest(ctx, sizeof(is.bytes), is.bytes);
	return digest_equal(&alone, &is);
}

static bool is_needed(void)
{
	uint32_t state = 1;

	if (!digest_two_is_supported()) {
		printf("# skipped: this processor has no instructions for it\n");
		return false;
	}
	for (size_t i = 0; i < 2 * sizeof(bytes[0]); i++)
		bytes[i / sizeof(bytes[0])][i % sizeof(bytes[0])] = (uint8_t)draw(&state, 256);
	return true;
}

/* FIPS 180-4's example of two blocks, in both places. */
static void a_known_text_has_its_known_digest(void)
{
	static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	struct sha256_ctx a, b;
	struct digest d, wanted;

	if (!is_needed())
		return;
	CHECK(digest_from_hex("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", &wanted) ==
	      0);
	sha256_init(&a);
	sha256_init(&b);
	digest_two_update(&a, sizeof(text) - 1, text, &b, sizeof(text) - 1, text);
	sha256_digest(&a, sizeof(d.bytes), d.bytes);
	CHECK(digest_equal(&d, &wanted));
	sha256_digest(&b, sizeof(d.bytes), d.bytes);
	CHECK(digest_equal(&d, &wanted));
}

static void each_pair_of_lengths_is_right(void)
{
	if (!is_needed())
		return;
	for (size_t i = 0; i < 200; i++)
		for (size_t k = 0; k < 200; k += tap_stride()) {
			struct sha256_ctx a, b;

			sha256_init(&a);
			sha256_init(&b);
			digest_two_update(&a, i, bytes[0] + k % 16, &b, k, bytes[1] + i % 16);
			CHECK(is_right(&a, bytes[0] + k % 16, i) && is_right(&b, bytes[1] + i % 16, k));
		}
}

/* One input ends, the other continues; blocks span two updates. */
static void pieces_are_right(void)
{
	uint32_t state = 7;

	if (!is_needed())
		return;
	for (unsigned int round = 0; round < 2000; round++) {
		const size_t len[2] = { draw(&state, LEN_MAX), draw(&state, LEN_MAX) };
		size_t at[2] = { 0, 0 };
		struct sha256_ctx ctx[2];

		sha256_init(ctx);
		sha256_init(ctx + 1);
		while (at[0] < len[0] || at[1] < len[1]) {
			size_t step[2];

			for (int i = 0; i < 2; i++) {
				step[i] = draw(&state, 4) ? 64 * draw(&state, 5) : draw(&state, 300);
				step[i] = step[i] < len[i] - at[i] ? step[i] : len[i] - at[i];
			}
			digest_two_update(ctx, step[0], bytes[0] + at[0], ctx + 1, step[1], bytes[1] + at[1]);
			at[0] += step[0];
			at[1] += step[1];
		}
		CHECK(is_right(ctx, bytes[0], len[0]) && is_right(ctx + 1, bytes[1], len[1]));
	}
}

TAP_MAIN(T(a_known_text_has_its_known_digest), T(each_pair_of_lengths_is_right), T(pieces_are_right))
