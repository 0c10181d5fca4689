/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "oci/libcrun/libcrun-wrap.h"

/*
 * libcrun decodes the filter of each run, 7 kB of base64, with a search through the alphabet for every character: half a percent
 * of a start.  The linker calls this instead (--wrap, see local.mk).  From the first group that has another character, and for
 * the last one, which may be padded, it is libcrun's own function, so that the same texts are accepted.
 */
/* clang-format off */
/* One more than the value; 0: not in the alphabet. */
static const uint8_t values[UINT8_MAX + 1] = {
	['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5, ['F'] = 6, ['G'] = 7, ['H'] = 8,
	['I'] = 9, ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
	['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
	['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
	['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
	['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
	['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};
/* clang-format on */

/* Four characters to three bytes; false: one is not in the alphabet. */
static bool decode_group(const char *text, char ret[3])
{
	const uint8_t *p = (const uint8_t *)text;
	const uint32_t a = values[p[0]], b = values[p[1]], c = values[p[2]], d = values[p[3]];
	const uint32_t bits = ((a - 1) << 18) | ((b - 1) << 12) | ((c - 1) << 6) | (d - 1);

	if (a == 0 || b == 0 || c == 0 || d == 0)
		return false;
	ret[0] = (char)(bits >> 16);
	ret[1] = (char)(bits >> 8);
	ret[2] = (char)bits;
	return true;
}

/* Returns how much of TEXT was read. */
int __wrap_base64_decode(const char *text, size_t len, char *ret, size_t size, size_t *ret_len)
{
	size_t at = 0, n = 0, rest = 0;
	int r;

	while (len - at > 4 && size - n > 3 && decode_group(text + at, ret + n)) {
		at += 4;
		n += 3;
	}
	r = __real_base64_decode(text + at, len - at, ret + n, size - n, &rest);
	*ret_len = n + rest;
	return r < 0 ? r : (int)at + r;
}
