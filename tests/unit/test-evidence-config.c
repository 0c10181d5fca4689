/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/evidence-config.h"

#include <string.h>

#include "base/json.h"
#include "tap.h"

static bool becomes(const char *text, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };

	return evidence_config_write(text, strlen(text), NULL, &out, NULL) == 0 &&
	       strcmp(out.text, want) == 0;
}

static bool is_refused(const char *text)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	_cleanup_fault_ struct fault f = { 0 };

	return evidence_config_write(text, strlen(text), NULL, &out, &f) < 0 && f.code && out.len == 0;
}

static void values_of_the_environment_are_hidden_and_nothing_else(void)
{
	CHECK(becomes("{\"process\":{\"args\":[\"A=b\"],\"env\":[\"KEY=hunter2\",\"EMPTY=\",\"TWO=a=b\"]}}",
		      "{\"process\":{\"args\":[\"A=b\"],\"env\":[\"KEY=[redacted]\",\"EMPTY=[redacted]\","
		      "\"TWO=[redacted]\"]}}"));
	CHECK(becomes("{\"env\":[\"A=b\"],\"hooks\":{}}", "{\"env\":[\"A=b\"],\"hooks\":{}}"));
}

static void everything_else_is_byte_for_byte_the_same(void)
{
	static const char text[] = "{\"process\":{\"cwd\":\"/\",\"env\":[\"A=[redacted]\"]},\"root\":{}}";
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_strbuf_ struct strbuf pretty = { 0 };

	CHECK(becomes(text, text));
	CHECK(jdoc_parse(text, strlen(text), "t", NULL, &d, NULL) == 0);
	CHECK(jdoc_write(d, JDOC_PRETTY, &pretty, NULL) == 0);
	CHECK(becomes(pretty.text, pretty.text));
}

static void config_that_cannot_be_parsed_is_not_kept(void)
{
	CHECK(is_refused("{\"process\":{\"env\":[\"KEY=hunter2\"]"));
	CHECK(is_refused("{\"process\":{\"env\":\"KEY=hunter2\"}}"));
	CHECK(is_refused("{\"process\":{\"env\":[[\"KEY=hunter2\"]]}}"));
}

TAP_MAIN(T(values_of_the_environment_are_hidden_and_nothing_else),
	 T(everything_else_is_byte_for_byte_the_same), T(config_that_cannot_be_parsed_is_not_kept))
