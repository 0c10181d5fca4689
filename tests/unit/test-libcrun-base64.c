/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <nettle/base64.h>
#include <stdint.h>
#include <string.h>

#include "oci/libcrun/libcrun-wrap.h"
#include "tap.h"

static size_t left_to_libcrun; /* characters */

/* In place of libcrun's: nettle's, one group. */
int __real_base64_decode(const char *text, size_t len, char *ret, size_t size, size_t *ret_len)
{
	struct base64_decode_ctx ctx;

	left_to_libcrun = len;
	*ret_len = 0;
	base64_decode_init(&ctx);
	if (len > 4 || size < 3 || !base64_decode_update(&ctx, ret_len, (uint8_t *)ret, len, text) ||
	    !base64_decode_final(&ctx))
		return 0;
	return (int)len;
}

static void every_length_is_decoded(void)
{
	for (size_t len = 1; len < 300; len++) {
		uint8_t bytes[300];
		char text[BASE64_ENCODE_RAW_LENGTH(300)], ret[BASE64_ENCODE_RAW_LENGTH(300)];
		const size_t n = BASE64_ENCODE_RAW_LENGTH(len);
		size_t ret_len = 0;

		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)(i * 167 + len * 59);
		base64_encode_raw(text, len, bytes);
		CHECK(__wrap_base64_decode(text, n, ret, n, &ret_len) == (int)n);
		CHECK(ret_len == len && memcmp(ret, bytes, len) == 0);
		CHECK(left_to_libcrun <= 4);
	}
}

static void another_character_is_left_to_libcrun(void)
{
	char text[] = "AAAABBBBCCCCDDDDEEEE", ret[sizeof(text)];
	size_t ret_len;

	for (int c = 0; c < 256; c++) {
		const bool known =
			c && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c);

		text[9] = (char)c;
		(void)__wrap_base64_decode(text, strlen("AAAABBBBCCCCDDDDEEEE"), ret, sizeof(ret), &ret_len);
		CHECK(left_to_libcrun == (known ? 4 : 12));
	}
}

static void nothing_is_written_behind_the_room(void)
{
	const char *text = "QUJDREVGR0hJSktM";
	char ret[16] = { 0 };
	size_t ret_len;

	(void)__wrap_base64_decode(text, strlen(text), ret, 7, &ret_len);
	CHECK(memcmp(ret, "ABCDEF\0\0\0\0\0\0\0\0\0\0", sizeof(ret)) == 0);
	CHECK(__wrap_base64_decode("", 0, ret, sizeof(ret), &ret_len) == 0 && ret_len == 0);
}

TAP_MAIN(T(every_length_is_decoded), T(another_character_is_left_to_libcrun),
	 T(nothing_is_written_behind_the_room))
