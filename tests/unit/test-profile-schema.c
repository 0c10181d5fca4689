/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <regex.h>

#include "base/array.h"
#include "profile/profile-impl.h"
#include "profile-fixture.h"
#include "tap.h"

static const struct jdoc *property(const struct jdoc *schema, const char *name)
{
	return jdoc_get(jdoc_get(schema, "properties"), name);
}

static void every_key_is_in_the_schema_with_its_help(void)
{
	_cleanup_jdoc_ struct jdoc *schema = profile_schema();

	for (const struct key_row *k = profile_keys(); k->path; k++) {
		char section[64];
		const char *dot = strchr(k->path, '.');
		const struct jdoc *s = schema;

		if (dot) {
			snprintf(section, sizeof(section), "%.*s", (int)(dot - k->path), k->path);
			s = property(schema, section);
		}
		s = property(s, key_row_name(k));
		CHECK(s && str_eq(jdoc_get_string(s, "description"), k->help));
		CHECK(!k->fallback || jdoc_get(s, "default"));
	}
}

static void nothing_else_is_allowed(void)
{
	_cleanup_jdoc_ struct jdoc *schema = profile_schema();
	const struct jdoc *limits = property(schema, "limits");

	CHECK(jdoc_get(schema, "additionalProperties")->type == JDOC_BOOL);
	CHECK(!jdoc_get(schema, "additionalProperties")->boolean);
	CHECK(!jdoc_get(limits, "additionalProperties")->boolean);
	CHECK(jdoc_get(jdoc_get(limits, "patternProperties"), "^x-"));
	CHECK(property(schema, "$schema"));
}

static void the_schema_is_one_whole_document(void)
{
	_cleanup_jdoc_ struct jdoc *schema = profile_schema(), *again = NULL;
	_cleanup_strbuf_ struct strbuf b = { 0 };

	CHECK(jdoc_write(schema, JDOC_PRETTY, &b, NULL) == 0);
	CHECK(jdoc_parse(b.text, b.len, "schema", NULL, &again, NULL) == 0);
	CHECK(jdoc_equal(schema, again));
}

/* Patterns are written twice, for the parser in C and for the schema: they must agree. */
static void patterns_and_checks_agree(void)
{
	static const char *const words[] = { "a",    "A",     "a.b-c_d", "-a",	  "LC_*", "*",	    "A*",
					     "AB*",  "0",     "65535",	 "65536", "7:8",  "root",   "7:",
					     "/a/b", "/a~0b", "/a~2b",	 "a/b",	  "",	  "ptrace", "1abc",
					     "h.x",  "_x",    "a b",	 "..",	  "/",	  "99999" };

	for (const struct key_row *k = profile_keys(); k->path; k++) {
		regex_t re;

		if (!k->shape)
			continue;
		CHECK(regcomp(&re, k->shape->pattern, REG_EXTENDED | REG_NOSUB) == 0);
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			bool matches = regexec(&re, words[i], 0, NULL, 0) == 0;

			/* The schema cannot count ids and does not know that ".." is no name; it may only be laxer. */
			if (k->shape->is(words[i]) != matches &&
			    !(matches && (str_eq(words[i], "65536") || str_eq(words[i], "99999") ||
					  str_eq(words[i], ".."))))
				printf("# %s: '%s'\n", k->path, words[i]), tap_ok = false;
		}
		regfree(&re);
	}
}

static void every_default_passes_its_own_check(void)
{
	for (const struct key_row *k = profile_keys(); k->path; k++) {
		_cleanup_jdoc_ struct jdoc *v = key_row_default(k);
		_cleanup_fault_ struct fault f = { 0 };

		if (!v)
			continue;
		CHECK(profile_expand_tree(v, &vars, &f) == 0);
		CHECK(key_row_set(k, v, &vars, NULL, &f) == 0);
	}
}

static void every_row_has_a_section_before_it(void)
{
	for (const struct key_row *k = profile_keys(); k->path; k++) {
		char section[64];
		const char *dot = strchr(k->path, '.');
		const struct key_row *s;

		CHECK(k->help && strlen(k->path) < sizeof(section));
		if (!dot)
			continue;
		snprintf(section, sizeof(section), "%.*s", (int)(dot - k->path), k->path);
		s = profile_key_find(NULL, section);
		CHECK(s && s->kind == KEY_KIND_SECTION && s < k);
	}
}

TAP_MAIN(T(every_key_is_in_the_schema_with_its_help), T(nothing_else_is_allowed),
	 T(the_schema_is_one_whole_document), T(patterns_and_checks_agree),
	 T(every_default_passes_its_own_check), T(every_row_has_a_section_before_it))
