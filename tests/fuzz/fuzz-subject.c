/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "base/str.h"
#include "subject/placement.h"
#include "subject/subject-diff.h"
#include "subject/subject-digest.h"
#include "subject/subject-json.h"
#include "oci/bundle/bundle.h"

/*
 * The document of a subject as a hook reads it from a bundle; behind a byte 0xff another one, with which it is compared.
 * What is accepted must come out again byte by byte, and every config.json that it gives must be the same twice.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As in tests/unit/subject-fixture.h, which the corpus was made with. */
static const struct digest_key key = { .bytes = { 1, 2, 3, 4 } };
static char *env[] = { (char *)"HOME=/home/sandbox", (char *)"PATH=/usr/bin", (char *)"SECRET=hunter2",
		       (char *)"TERM=xterm-256color", NULL };

static const struct placement places[] = {
	{ .portable = true,
	  .uid_base = 2000000,
	  .gid_base = 3000000,
	  .n_ids = 65536,
	  .rootfs = "rootfs",
	  .init = "/lib/custody-init",
	  .hook = "/lib/custody-hook",
	  .report_fd = -1,
	  .limits = true },
	{ .uid_base = 2000000,
	  .gid_base = 3000000,
	  .n_ids = 65536,
	  .rootfs = "/s/root",
	  .worktree = "/s/tree",
	  .upper = "/s/l/u",
	  .work = "/s/l/w",
	  .init = "/lib/custody-init",
	  .report_fd = 3 },
};

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
	struct digest a, b;

	if (subject_to_json(s, &key, &written, NULL) < 0 || subject_digest(d, &a, NULL) < 0 ||
	    subject_digest(written, &b, NULL) < 0 || !digest_equal(&a, &b))
		abort();
	if (subject_from_json(written, env, s->profile->limit_time_s, &key, &again, NULL) < 0)
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
	if (a && (subject_from_json(a, env, 90, &key, &s, NULL) == 0 ||
		  subject_from_json(a, env, 0, &key, &s, NULL) == 0))
		check_again(a, s);
	return 0;
}
