/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/unit-text.h"

#include <string.h>

#include "base/array.h"

#include "tap.h"

static void sizes_have_two_or_three_digits(void)
{
	static const struct {
		uint64_t bytes;
		const char *want;
	} rows[] = {
		{ 0, "0 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.0 KB" },
		{ 1536, "1.5 KB" },
		{ 10 * 1024, "10 KB" },
		{ UINT64_C(2000000000), "1.8 GB" },
		{ UINT64_MAX, "15 EB" },
	};
	char text[UNIT_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(strcmp(unit_text_bytes(rows[i].bytes, text), rows[i].want) == 0);
}

static void times_have_one_unit(void)
{
	static const struct {
		uint64_t seconds;
		const char *want;
	} rows[] = {
		{ 0, "0s" },	{ 119, "119s" },   { 120, "2m" },    { 7199, "119m" },
		{ 7200, "2h" }, { 172799, "47h" }, { 172800, "2d" }, { UINT64_MAX, "213503982334601d" },
	};
	char text[UNIT_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(strcmp(unit_text_seconds(rows[i].seconds, text), rows[i].want) == 0);
}

TAP_MAIN(T(sizes_have_two_or_three_digits), T(times_have_one_unit))
