/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A parsed document is written, parsed and written again: the same tree, the same bytes. */
static void check_round_trip(const struct jdoc *d, enum jdoc_style style)
{
	_cleanup_strbuf_ struct strbuf once = { 0 }, twice = { 0 };
	_cleanup_jdoc_ struct jdoc *again = NULL, *copy = jdoc_copy(d);

	require(jdoc_equal(d, copy));
	require(jdoc_write(d, style, &once, NULL) == 0);
	require(str_is_utf8(once.text, once.len) && strlen(once.text) == once.len);
	require(jdoc_parse(once.text, once.len, "again", NULL, &again, NULL) == 0);
	require(jdoc_equal(d, again) && jdoc_equal(again, d));
	require(jdoc_write(again, style, &twice, NULL) == 0);
	require(str_eq(once.text, twice.text));
}

/* A refusal names its place and its reason, and leaves nothing behind. */
static void check_refusal(const struct jdoc *d, const struct fault *f, int r)
{
	unsigned int line = 0, column = 0;
	int end = 0;

	require(!d && f->code == -r);
	require(sscanf(fault_text(f), "input:%u:%u: %n", &line, &column, &end) == 2 && end > 0);
	require(line > 0 && column > 0);
	require(!strstr(fault_text(f), "not valid JSON from here"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_jdoc_ struct jdoc *strict = NULL, *commented = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	const char *text = (const char *)data;
	int r;

	r = jdoc_parse(text, size, "input", NULL, &strict, &f);
	if (r < 0)
		check_refusal(strict, &f, r);
	r = jdoc_parse(text, size, "input", &(struct jdoc_limits){ .comments = true }, &commented, &f);
	if (r < 0) {
		require(!strict);
		check_refusal(commented, &f, r);
		return 0;
	}
	require(!strict || jdoc_equal(strict, commented));
	check_round_trip(commented, JDOC_CANONICAL);
	check_round_trip(commented, JDOC_PRETTY);
	return 0;
}
