/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspect/inspect-impl.h"

#define CAPITAL (INSPECT_UPPER | INSPECT_BASE64 | INSPECT_VALUE)
#define SMALL (INSPECT_LOWER | INSPECT_BASE64 | INSPECT_VALUE)

/* clang-format off */
const uint8_t inspect_class[256] = {
	['0' ... '9'] = INSPECT_DIGIT | INSPECT_HEX | INSPECT_BASE64 | INSPECT_VALUE,
	['A' ... 'F'] = CAPITAL | INSPECT_HEX, ['G' ... 'Z'] = CAPITAL,
	['a' ... 'f'] = SMALL | INSPECT_HEX,   ['g' ... 'z'] = SMALL,
	['+'] = INSPECT_BASE64 | INSPECT_VALUE, ['/'] = INSPECT_BASE64 | INSPECT_VALUE,
	['-'] = INSPECT_BASE64 | INSPECT_VALUE, ['_'] = INSPECT_BASE64 | INSPECT_VALUE,
	['.'] = INSPECT_VALUE, ['~'] = INSPECT_VALUE,
	[' '] = INSPECT_BLANK, ['\t'] = INSPECT_BLANK, ['\r'] = INSPECT_BLANK, ['\n'] = INSPECT_BLANK,
};
/* clang-format on */

size_t inspect_distinct(const char *p, size_t len)
{
	uint64_t seen[4] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		seen[(uint8_t)p[i] / 64] |= UINT64_C(1) << (uint8_t)p[i] % 64;
	for (size_t i = 0; i < 4; i++)
		n += (size_t)__builtin_popcountll(seen[i]);
	return n;
}

/*
 * Of random base64, six of ten neighbours differ in kind, of random hexadecimal digits one of two; of names and paths, which are
 * words with a number or a capital here and there, one or two of ten.
 */
bool inspect_is_random(const char *p, size_t len)
{
	size_t changes = 0, digits = 0, others = 0;
	bool hex = true;

	for (size_t i = 0; i < len; i++) {
		const unsigned int kind = inspect_class[(uint8_t)p[i]] & INSPECT_ALNUM;

		changes += i > 0 && kind != (inspect_class[(uint8_t)p[i - 1]] & INSPECT_ALNUM);
		digits += kind == INSPECT_DIGIT;
		others += kind == 0;
		hex = hex && inspect_is(p[i], INSPECT_HEX);
	}
	if (hex)
		return len >= 32 && digits < len && changes * 4 >= len && inspect_distinct(p, len) >= 10;
	return digits >= 2 && others * 6 <= len && changes * 3 >= len &&
	       inspect_distinct(p, len) * 2 >= (len < 40 ? len : 40);
}
