/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "session/run-result.h"

#include "tap.h"

static char word[] = "make", bad[] = "a\xff\nb";
static char *const argv_ok[] = { word, NULL };
static char *const argv_bad[] = { bad, NULL };

static struct run_result sample(void)
{
	struct run_result r = {
		.session = "20261116T031500Z-1a2b3c4d",
		.lane = "sandbox",
		.digest = "sha256:00",
		.profile = "offline",
		.argv = argv_ok,
		.agent = "robin",
		.exit = { .reason = EXIT_REASON_OOM,
			  .source = EXIT_SOURCE_CGROUP,
			  .code = 137,
			  .signal = 9,
			  .abnormal = true },
		.proven = true,
		.started_us = 1,
		.duration_ms = 12,
	};

	for (int l = 0; l < _LAYER_MAX; l++)
		r.layers[l] = LAYER_STATE_NOT_ASKED;
	r.layers[LAYER_SECCOMP] = LAYER_STATE_PROVEN;
	r.layers[LAYER_MEMORY_LIMIT] = LAYER_STATE_OPTIONAL_MISSING;
	return r;
}

static bool write_result(const struct run_result *r, struct strbuf *text)
{
	_cleanup_jdoc_ struct jdoc *doc = run_result_to_json(r);

	return jdoc_write(doc, JDOC_CANONICAL, text, NULL) == 0;
}

static void shape_that_others_build_on(void)
{
	struct run_result r = sample();
	_cleanup_strbuf_ struct strbuf t = { 0 };

	CHECK(write_result(&r, &t));
	CHECK(strstr(t.text, "\"schema_version\":1"));
	CHECK(strstr(t.text,
		     "\"exit\":{\"code\":137,\"reason\":\"oom\",\"signal\":9,\"source\":\"cgroup\"}"));
	CHECK(strstr(t.text, "\"abnormal\":true"));
	CHECK(strstr(t.text, "\"session\":\"20261116T031500Z-1a2b3c4d\""));
	CHECK(strstr(t.text, "\"lane\":\"sandbox\""));
	CHECK(strstr(t.text, "\"digest\":\"sha256:00\"") && strstr(t.text, "\"verdict\":null"));
	CHECK(strstr(t.text, "\"evidence\":null"));
	CHECK(strstr(t.text, "\"agent\":\"robin\"") && strstr(t.text, "\"worker\":null"));
	CHECK(strstr(t.text, "\"started\":\"1970-01-01T00:00:00.000001Z\"") &&
	      strstr(t.text, "\"ended\":null"));
}

static void layers_are_those_that_were_asked_for(void)
{
	struct run_result r = sample();
	_cleanup_strbuf_ struct strbuf t = { 0 };

	CHECK(write_result(&r, &t));
	CHECK(strstr(t.text, "\"layers\":[{\"name\":\"seccomp\",\"state\":\"proven\"},"
			     "{\"name\":\"memory-limit\",\"state\":\"optional-missing\"}]"));
}

static void unproven_layers_are_not_listed(void)
{
	struct run_result r = sample();
	_cleanup_strbuf_ struct strbuf t = { 0 };

	r.proven = false;
	CHECK(write_result(&r, &t));
	CHECK(strstr(t.text, "\"layers\":[]"));
}

static void the_ids_are_named_with_their_map(void)
{
	struct run_result r = sample();
	char why[] = "no range";
	struct run_ids one = { .mode = "single", .why = why },
		       many = { .mode = "subordinate",
				.map = { .uid = { .at = { { 0, 1000, 1 }, { 1, 100000, 9 } }, .n = 2 },
					 .gid = { .at = { { 0, 100, 1 } }, .n = 1 } } };
	_cleanup_strbuf_ struct strbuf none = { 0 }, a = { 0 }, b = { 0 };

	CHECK(write_result(&r, &none) && !strstr(none.text, "\"ids\""));
	r.ids = &one;
	CHECK(write_result(&r, &a) && strstr(a.text, "\"ids\":{\"mode\":\"single\",\"why\":\"no range\"}"));
	r.ids = &many;
	CHECK(write_result(&r, &b));
	CHECK(strstr(b.text, "\"ids\":{\"gid\":[{\"count\":1,\"inside\":0,\"outside\":100}],\"mode\":"
			     "\"subordinate\",\"uid\":["
			     "{\"count\":1,\"inside\":0,\"outside\":1000},{\"count\":9,\"inside\":1,"
			     "\"outside\":100000}]}"));
}

static void command_of_any_bytes_gives_a_document(void)
{
	struct run_result r = sample();
	_cleanup_strbuf_ struct strbuf t = { 0 };
	_cleanup_jdoc_ struct jdoc *doc = NULL;

	r.argv = argv_bad;
	CHECK(write_result(&r, &t));
	CHECK(jdoc_parse(t.text, t.len, "result", NULL, &doc, NULL) == 0);
	CHECK(!strchr(t.text, '\n'));
}

TAP_MAIN(T(shape_that_others_build_on), T(layers_are_those_that_were_asked_for),
	 T(unproven_layers_are_not_listed), T(the_ids_are_named_with_their_map),
	 T(command_of_any_bytes_gives_a_document))
