/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/str.h"
#include "subject/subject-diff.h"
#include "oci/bundle/bundle.h"
#include "tests/unit/subject-fixture.h"

/*
 * The document of a subject as a hook reads it from a bundle; after a byte 0xff a second one, to compare it with.
 * An accepted document must be written back byte for byte, and each config.json made from it must be the same twice.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct jdoc *parse(const uint8_t *data, size_t size)
{
	struct jdoc *d = NULL;

	return jdoc_parse((const char *)data, size, "fuzz", NULL, &d, NULL) < 0 ? NULL : d;
}

static void write_config(const struct subject *s, const struct placement *p, struct strbuf *out)
{
	_cleanup_jdoc_ struct jdoc *config = NULL;

	if (bundle_config(s, p, &config, NULL) == 0 && jdoc_write(config, JDOC_PRETTY, out, NULL) < 0)
		abort();
}

static void check_again(const struct jdoc *d, const struct subject *s)
{
	_cleanup_subject_ struct subject *again = NULL;
	_cleanup_jdoc_ struct jdoc *written = NULL;
	const struct placement places[] = { fixture_portable(), fixture_own_run() };
	struct digest a, b;

	if (subject_to_json(s, &fixture_key, &written, NULL) < 0 || subject_digest(d, &a, NULL) < 0 ||
	    subject_digest(written, &b, NULL) < 0 || !digest_equal(&a, &b))
		abort();
	if (subject_from_json(written, fixture_env, s->argv, s->profile->limit_time_s, &fixture_key, &again,
			      NULL) < 0)
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_strbuf_ struct strbuf x = { 0 }, y = { 0 };

		write_config(s, &places[i], &x);
		write_config(again, &places[i], &y);
		if (x.len != y.len || (x.len && memcmp(x.text, y.text, x.len) != 0))
			abort();
	}
}

static void check_difference(const struct jdoc *a, const struct jdoc *b)
{
	_cleanup_jdoc_ struct jdoc *diff = subject_diff(a, b);
	_cleanup_strbuf_ struct strbuf lines = { 0 };

	if (!diff || subject_diff_print(diff, 100, &lines, NULL) < 0)
		abort();
	if ((diff->n_items == 0) != jdoc_equal(a, b))
		abort();
	if (lines.text && !str_is_utf8(lines.text, lines.len))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0xff, size);
	_cleanup_jdoc_ struct jdoc *a = parse(data, end ? (size_t)(end - data) : size), *b = NULL;
	_cleanup_subject_ struct subject *s = NULL;

	if (end)
		b = parse(end + 1, size - (size_t)(end + 1 - data));
	if (a && b)
		check_difference(a, b);
	if (a && (subject_from_json(a, fixture_env, fixture_args, 90, &fixture_key, &s, NULL) == 0 ||
		  subject_from_json(a, fixture_env, fixture_args, 0, &fixture_key, &s, NULL) == 0))
		check_again(a, s);
	return 0;
}
