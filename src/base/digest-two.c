/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest-two.h"

#include <stdint.h>
#include <stdlib.h>

/* configure checks that nettle's context has these members; without them both streams go through nettle. */
#if defined(__x86_64__) && defined(HAVE_STRUCT_SHA256_CTX_STATE) && defined(HAVE_STRUCT_SHA256_CTX_COUNT) && \
	defined(HAVE_STRUCT_SHA256_CTX_INDEX)
#include <cpuid.h>
#include <immintrin.h>

_Static_assert(sizeof(((struct sha256_ctx *)NULL)->state) == 8 * sizeof(uint32_t), "eight words of state");
_Static_assert(sizeof(((struct sha256_ctx *)NULL)->count) == sizeof(uint64_t), "a count of whole blocks");

#define CPUID_7_EBX_SHA (1u << 29)
#define INSTRUCTIONS __attribute__((target("sha,sse4.1")))
#define INLINE static inline __attribute__((always_inline)) INSTRUCTIONS

bool digest_two_is_supported(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & CPUID_7_EBX_SHA);
}

/* FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const _Alignas(16) uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/*
 * The eight words of the state in the order of the instructions, and the next sixteen words of the schedule.
 */
struct stream {
	__m128i abef, cdgh, w[4];
};

INLINE void load_state(struct stream *l, const uint32_t state[8])
{
	const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
	const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);

	l->abef = _mm_alignr_epi8(cdab, efgh, 8);
	l->cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
}

INLINE void store_state(const struct stream *l, uint32_t state[8])
{
	const __m128i feba = _mm_shuffle_epi32(l->abef, 0x1b);
	const __m128i dchg = _mm_shuffle_epi32(l->cdgh, 0xb1);

	_mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

INLINE void load_block(struct stream *l, const uint8_t *block)
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

	for (unsigned int i = 0; i < 4; i++)
		l->w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(block + 16 * i)), big_endian);
}

/* Rounds 4i to 4i+3, and before them their words where they are not the block's own. */
INLINE void four_rounds(struct stream *l, unsigned int i)
{
	__m128i *w = &l->w[i % 4], sum;

	if (i >= 4) {
		sum = _mm_sha256msg1_epu32(*w, l->w[(i + 1) % 4]);
		sum = _mm_add_epi32(sum, _mm_alignr_epi8(l->w[(i + 3) % 4], l->w[(i + 2) % 4], 4));
		*w = _mm_sha256msg2_epu32(sum, l->w[(i + 3) % 4]);
	}
	sum = _mm_add_epi32(*w, _mm_load_si128((const __m128i *)(round_constants + 4 * i)));
	l->cdgh = _mm_sha256rnds2_epu32(l->cdgh, l->abef, sum);
	l->abef = _mm_sha256rnds2_epu32(l->abef, l->cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

INLINE void add_state(struct stream *l, const struct stream *before)
{
	l->abef = _mm_add_epi32(l->abef, before->abef);
	l->cdgh = _mm_add_epi32(l->cdgh, before->cdgh);
}

INSTRUCTIONS static void compress_two(uint32_t *a_state, const uint8_t *a, uint32_t *b_state,
				      const uint8_t *b, size_t blocks)
{
	struct stream x, y;

	load_state(&x, a_state);
	load_state(&y, b_state);
	for (; blocks > 0; blocks--, a += SHA256_BLOCK_SIZE, b += SHA256_BLOCK_SIZE) {
		const struct stream x_before = x, y_before = y;

		load_block(&x, a);
		load_block(&y, b);
#pragma GCC unroll 16
		for (unsigned int i = 0; i < 16; i++) {
			four_rounds(&x, i);
			four_rounds(&y, i);
		}
		add_state(&x, &x_before);
		add_state(&y, &y_before);
	}
	store_state(&x, a_state);
	store_state(&y, b_state);
}

void digest_two_update(struct sha256_ctx *a, size_t a_len, const void *a_bytes, struct sha256_ctx *b,
		       size_t b_len, const void *b_bytes)
{
	/* Bytes of a partial block first: they are in nettle's buffer. */
	const size_t blocks = a->index || b->index ? 0 : (a_len < b_len ? a_len : b_len) / SHA256_BLOCK_SIZE;
	const size_t done = blocks * SHA256_BLOCK_SIZE;

	if (blocks > 0) {
		compress_two(a->state, a_bytes, b->state, b_bytes, blocks);
		a->count += blocks;
		b->count += blocks;
	}
	sha256_update(a, a_len - done, (const uint8_t *)a_bytes + done);
	sha256_update(b, b_len - done, (const uint8_t *)b_bytes + done);
}

#else

bool digest_two_is_supported(void)
{
	return false;
}

void digest_two_update(struct sha256_ctx *a, size_t a_len, const void *a_bytes, struct sha256_ctx *b,
		       size_t b_len, const void *b_bytes)
{
	sha256_update(a, a_len, a_bytes);
	sha256_update(b, b_len, b_bytes);
}

#endif
