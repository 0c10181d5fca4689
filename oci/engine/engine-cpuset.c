/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "oci/engine/engine-limit.h"

/* Lists of the kernel, "0-3,7": of CPUs and memory nodes. */
#define NUMBERS 8192

struct numbers {
	unsigned char bits[NUMBERS / 8];
};

static bool take_number(const char **at, unsigned int *ret)
{
	unsigned int n = 0;
	const char *p = *at;

	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (unsigned int)(*p - '0');
		if (n >= NUMBERS)
			return false;
	}
	if (p == *at)
		return false;
	*at = p;
	*ret = n;
	return true;
}

static bool parse(const char *text, struct numbers *ret)
{
	unsigned int from, to;

	*ret = (struct numbers){ 0 };
	for (;;) {
		if (!take_number(&text, &from))
			return false;
		to = from;
		if (*text == '-') {
			text++;
			if (!take_number(&text, &to) || to < from)
				return false;
		}
		for (; from <= to; from++)
			ret->bits[from / 8] |= (unsigned char)(1U << from % 8);
		if (*text != ',')
			return *text == '\0' || str_eq(text, "\n");
		text++;
	}
}

bool engine_cpuset_is_part(const char *small, const char *large)
{
	struct numbers s, l;

	if (!parse(small, &s))
		return false;
	if (!large || !*large)
		return true;
	if (!parse(large, &l))
		return false;
	for (size_t i = 0; i < sizeof(s.bits); i++)
		if (s.bits[i] & ~l.bits[i])
			return false;
	return true;
}
