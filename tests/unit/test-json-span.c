/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "base/json-span.h"
#include "oci/runtime/runtime-config.h"
#include "oci/runtime/runtime-process.h"
#include "tap.h"

static int get(const char *text, const char *key, struct jspan *ret)
{
	struct jspan root;

	return jspan_root(text, strlen(text), &root) < 0 ? -EINVAL : jspan_get(root, key, ret);
}

static void a_value_is_found_byte_for_byte(void)
{
	struct jspan v;

	CHECK(get(" {\"a\" : 18446744073709551615 , \"b\":{\"x\":[1,\"}\"]} } ", "b", &v) == 1);
	CHECK(v.len == strlen("{\"x\":[1,\"}\"]}") && !memcmp(v.at, "{\"x\":[1,\"}\"]}", v.len));
	CHECK(get("{\"a\":1}", "b", &v) == 0);
	CHECK(get("{/* } */\"a\":1// }\n}", "a", &v) == 1 && v.len == 1);
}

static void a_key_given_twice_or_escaped_is_refused(void)
{
	struct jspan v;

	CHECK(get("{\"a\":1,\"a\":2}", "a", &v) == -EINVAL);
	CHECK(get("{\"\\u0061\":1}", "a", &v) == -EINVAL);
}

static void an_unclosed_value_is_refused(void)
{
	static const char *const bad[] = { "",		 "{",	"}",	"{\"a\"",   "[1,",
					   "{\"a\":1]x", "\"a", "{}{}", "{\"a\" 1}" };
	struct jspan v;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(get(bad[i], "a", &v) <= 0);
}

static void depth_is_bounded(void)
{
	char text[64];

	memset(text, '[', 32);
	memset(text + 32, ']', 32);
	CHECK(jspan_check(text, 64, 32) == 0);
	CHECK(jspan_check(text, 64, 31) == -E2BIG);
	CHECK(jspan_check(text, 63, 32) == -EINVAL);
	CHECK(jspan_check("]", 1, 9) == -EINVAL);
}

/* As long as a configuration may be: a look at the rest of the text for each escape would take minutes. */
static void a_string_of_escapes_is_read_once(void)
{
	const size_t len = RUNTIME_CONFIG_MAX;
	char *text = malloc(len);
	struct jspan v;

	CHECK(text);
	memset(text, '\\', len);
	memcpy(text, "{\"a\":\"", 6);
	memcpy(text + len - 4, "\\\"\"}", 4);
	CHECK(jspan_check(text, len, 2) == 0);
	CHECK(jspan_root(text, len, &v) == 0 && v.len == len);
	CHECK(jspan_get(v, "a", &v) == 1 && v.len == len - 6);
	/* Without the last quote it has no end. */
	text[len - 2] = ' ';
	CHECK(jspan_check(text, len, 2) == -EINVAL);
	free(text);
}

static void a_string_is_decoded(void)
{
	struct jspan v;
	_cleanup_free_ char *s = NULL;

	CHECK(get("{\"a\":\"x\\n\\u00e4\"}", "a", &v) == 1);
	s = jspan_string(v);
	CHECK(s && !strcmp(s, "x\n\xc3\xa4"));
}

static void exec_adds_to_the_process_of_the_container(void)
{
	static const char config[] =
		"{\"process\":{\"args\":[\"a\"],\"env\":[\"A=1\"],\"cwd\":\"/w\",\"terminal\":true,"
		"\"rlimits\":[{\"hard\":18446744073709551615}]}}";
	const char *env[] = { "B=\"2\"" };
	char *args[] = { (char *)"id", (char *)"ls", NULL };
	struct runtime_options o = { .args = args, .n_args = 2, .env = { .items = env, .n = 1 } };
	_cleanup_strbuf_ struct strbuf out = { 0 };
	struct jspan root;

	CHECK(jspan_root(config, strlen(config), &root) == 0);
	CHECK(runtime_process_make(root, &o, &out, NULL) == 0);
	CHECK(!strcmp(
		out.text,
		"{\"args\":[\"ls\"],\"terminal\":false,\"env\":[\"A=1\",\"B=\\\"2\\\"\"],\"cwd\":\"/w\","
		"\"rlimits\":[{\"hard\":18446744073709551615}]}"));
}

static void a_member_that_is_not_set_is_blanked_with_one_comma(void)
{
	static const struct {
		const char *before, *after;
	} rows[] = {
		{ "{\"memory\":{\"kernel\":0}}", "{\"memory\":{          }}" },
		{ "{\"memory\":{\"kernel\":0,\"limit\":9}}", "{\"memory\":{           \"limit\":9}}" },
		{ "{\"memory\":{\"limit\":9,\"kernel\":0}}", "{\"memory\":{\"limit\":9           }}" },
		{ "{\"memory\":{\"a\":1 , \"kernel\" : 0 , \"b\":2}}",
		  "{\"memory\":{\"a\":1 ,                \"b\":2}}" },
		/* The end of a line ends a comment. */
		{ "{\"memory\":{//\n\"kernel\":0,\"limit\":9,\n\"swap\":9}}",
		  "{\"memory\":{//\n           \"limit\":9,\n\"swap\":9}}" },
		{ "{\"memory\":{\"limit\":9,\n\"kernel\":0}}", "{\"memory\":{\"limit\":9 \n          }}" },
		{ "{\"memory\":{\"kernel\":1}}", NULL },
		{ "{\"memory\":{\"kernel\":00}}", NULL },
		{ "{\"memory\":{\"kernelTCP\":0}}", NULL },
		{ "{\"kernel\":0,\"memory\":{}}", NULL },
		{ "{\"memory\":[\"kernel\",0]}", NULL },
		{ "{\"memory\":{\"kernel\":0/**/}}", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_runtime_json_ struct runtime_json j = { 0 };

		CHECK(runtime_json_parse(strdup(rows[i].before), strlen(rows[i].before), "test", &j, NULL) ==
		      0);
		runtime_json_blank(&j, "memory", "kernel", "0");
		if (strcmp(j.text, rows[i].after ? rows[i].after : rows[i].before) != 0)
			printf("# %s -> %s\n", rows[i].before, j.text);
		CHECK(strcmp(j.text, rows[i].after ? rows[i].after : rows[i].before) == 0);
	}
}

static void a_value_is_compared_decoded(void)
{
	static const struct {
		const char *value;
		bool is;
	} rows[] = {
		{ "\"bind\"", true },	{ "\"bin\\u0064\"", true },  { "\"\\u0062ind\"", true },
		{ "\"binds\"", false }, { "\"bin\\u0065\"", false }, { "\"bind\\u0000\"", false },
		{ "bind", false },	{ "null", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(jspan_string_is((struct jspan){ .at = rows[i].value, .len = strlen(rows[i].value) },
				      "bind") == rows[i].is);
}

static void a_NUL_is_refused_however_it_is_written(void)
{
	static const struct {
		const char *text;
		int r;
	} rows[] = {
		{ "{\"a\":\"x\\u0000y\"}", -EINVAL }, { "{\"a\":[\"\\\\\\u0000\"]}", -EINVAL },
		{ "{\"a\\u0000\":1}", -EINVAL },      { "{\"a\":\"\\\\u0000\"}", 0 },
		{ "{\"a\":\"\\u00001\"}", -EINVAL },  { "{\"a\":\"\\u0001\"}", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_runtime_json_ struct runtime_json j = { 0 };

		CHECK(runtime_json_parse(strdup(rows[i].text), strlen(rows[i].text), "test", &j, NULL) ==
		      rows[i].r);
	}
}

TAP_MAIN(T(a_value_is_compared_decoded), T(a_NUL_is_refused_however_it_is_written),
	 T(a_value_is_found_byte_for_byte), T(a_key_given_twice_or_escaped_is_refused),
	 T(an_unclosed_value_is_refused), T(depth_is_bounded),
	 T(a_member_that_is_not_set_is_blanked_with_one_comma), T(a_string_of_escapes_is_read_once),
	 T(a_string_is_decoded), T(exec_adds_to_the_process_of_the_container))
