/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/str.h"
#include "inspect/inspect.h"

#include "tap.h"

/* Literals are cut in two, so that no scanner finds them here. */
#define TOKEN                                  \
	"ghp"                                  \
	"_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA" \
	"2"
#define SECRET "pass/word+of 7&more"

static const struct redact_secret known = { SECRET, sizeof(SECRET) - 1 };
static const struct inspect_options options = { .secrets = &known, .n_secrets = 1 };

/* The places of the findings in the parameters JSON. */
static char *places_of(const char *json, const struct inspect_options *o)
{
	_cleanup_inspect_found_ struct inspect_found found = { .options = o };
	_cleanup_jdoc_ struct jdoc *d = NULL;

	if (jdoc_parse(json, strlen(json), "params", NULL, &d, NULL) < 0)
		return NULL;
	inspect_params(d, &found);
	return inspect_found_describe(&found);
}

static bool is_at(const char *json, const char *expected)
{
	_cleanup_free_ char *places = places_of(json, &options);
	const bool ok = str_eq(places, expected);

	if (!ok)
		printf("# %s: %s\n", json, places ? places : "?");
	return ok;
}

static void ISO_10_a_finding_has_a_place_and_no_value(void)
{
	CHECK(is_at("{\"a\":1,\"b\":true,\"c\":null,\"d\":\"text\"}", ""));
	CHECK(is_at("\"" TOKEN "\"", "secret.token.github in "));
	CHECK(is_at("{\"a\":{\"b\":[0,\"" TOKEN "\"]}}", "secret.token.github in /a/b/1"));
	CHECK(is_at("{\"a\":\"x\\ny\\n" TOKEN "\"}", "secret.token.github in /a:3"));
	CHECK(is_at("{\"a\":\"" TOKEN " " TOKEN "\"}", "secret.token.github in /a"));
	CHECK(is_at("{\"a\":\"" TOKEN "\\n" TOKEN "\"}",
		    "secret.token.github in /a:1, secret.token.github in /a:2"));
	CHECK(is_at("{\"a\":\"" SECRET "\",\"b\":\"" TOKEN "\"}",
		    "secret.known in /a, secret.token.github in /b"));
}

static void ISO_10_a_name_that_is_no_plain_word_is_a_number(void)
{
	CHECK(is_at("{\"" TOKEN "\":1}", "secret.token.github in /#0"));
	CHECK(is_at("{\"" TOKEN "\":{\"x\":\"" SECRET "\"}}",
		    "secret.token.github in /#0, secret.known in /#0/x"));
	CHECK(is_at("{\"a b\":\"" SECRET "\",\"c\":\"" SECRET "\"}",
		    "secret.known in /#0, secret.known in /c"));
	CHECK(is_at("{\"a/b\":\"" SECRET "\"}", "secret.known in /#0"));
	CHECK(is_at("{\"\":\"" SECRET "\"}", "secret.known in /#0"));
	/* It may be a secret that no rule knows. */
	CHECK(is_at("{\"aB3dE5fG7hJ9kL1mN2pQ\":\"" SECRET "\"}", "secret.known in /#0"));
	CHECK(is_at("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":\"" SECRET "\"}", "secret.known in /#0"));
}

static void ISO_10_an_allowed_rule_still_hides_the_name(void)
{
	const struct inspect_options o = { .allow = UINT64_C(1) << INSPECT_SECRET_GITHUB,
					   .secrets = &known,
					   .n_secrets = 1 };
	_cleanup_free_ char *places = places_of("{\"" TOKEN "\":[\"" TOKEN "\",\"" SECRET "\"]}", &o);

	const struct inspect_options words = { .allow = UINT64_C(1) << INSPECT_SECRET_GITLAB,
					       .secrets = &known,
					       .n_secrets = 1 };
	_cleanup_free_ char *word = places_of("{\"glpat"
					      "-abcdefghijklmnopqrst\":\"" SECRET "\"}",
					      &words);

	CHECK(str_eq(places, "secret.known in /#0/1"));
	CHECK(str_eq(word, "secret.known in /#0"));
}

/* Each is one of the usual encodings of the secret. */
static void ISO_10_a_known_secret_is_found_in_the_usual_spellings(void)
{
	static const char *const spellings[] = {
		SECRET,
		"cGFzcy93b3JkK29mIDcmbW9yZQ==",
		"x=cGFzcy93b3JkK29mIDcmbW9yZQ",
		"eHBhc3Mvd29yZCtvZiA3Jm1vcmU=",
		"eHlwYXNzL3dvcmQrb2YgNyZtb3JlIHo=",
		"path/x/cGFzcy93b3JkK29mIDcmbW9yZQ==",
		"706173732f776f72642b6f662037266d6f7265",
		"706173732F776F72642B6F662037266D6F7265",
		"pass%2Fword%2Bof%207%26more",
		"%70%61%73%73%2f%77%6f%72%64%2b%6f%66%20%37%26%6d%6f%72%65",
		"pass\\/word+of 7\\u0026more",
		"pass\\x2fword+of 7&more",
		"eHlwYXN\nzL3dvcm\nQrb2YgN\nyZtb3Jl\nIGFuZCB\ntb3Jl",
		"70 61 73 73 2f 77 6f 72 64 2b 6f 66 20 37 26 6d 6f 72 65",
		"0706173732f\n776f72642b6\nf662037266d\n6f7265",
		"0x70, 0x61, 0x73, 0x73, 0x2f, 0x77, 0x6f, 0x72, 0x64, 0x2b, 0x6f, 0x66, 0x20, 0x37, 0x26, "
		"0x6d, 0x6f, 0x72, 0x65",
		"cABhAHMAcwAvAHcAbwByAGQAKwBvAGYAIAA3ACYAbQBvAHIAZQA=",
		"pass/\n  word+of\n  7&more",
		"pass%2Fword%2Bof+7%26more",
		"Y0dGemN5OTNiM0prSzI5bUlEY21iVzl5WlE9PQ==",
	};
	bool ok = true;

	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		_cleanup_inspect_found_ struct inspect_found found = { .options = &options };

		inspect_text("x", spellings[i], strlen(spellings[i]), &found);
		if (found.n != 1 || found.items[0].rule != INSPECT_SECRET_KNOWN)
			printf("# %s\n", spellings[i]);
		ok = ok && found.n == 1 && found.items[0].rule == INSPECT_SECRET_KNOWN;
	}
	CHECK(ok);
}

static void ISO_10_a_short_known_secret_is_found_encoded_and_as_a_number(void)
{
	static const struct redact_secret values[] = { { "hunter2!", 8 }, { "1234567890123", 13 } };
	const struct inspect_options o = { .secrets = values, .n_secrets = 2 };
	_cleanup_free_ char *hex = places_of("{\"a\":\"68756E7465723221\"}", &o),
			    *spaced = places_of("{\"b\":\"68 75 6e 74 65 72 32 21\"}", &o),
			    *wide = places_of("{\"c\":\"aAB1AG4AdABlAHIAMgAhAA==\"}", &o),
			    *number = places_of("{\"d\":[1,1234567890123]}", &o);

	CHECK(str_eq(hex, "secret.known in /a"));
	CHECK(str_eq(spaced, "secret.known in /b"));
	CHECK(str_eq(wide, "secret.known in /c"));
	CHECK(str_eq(number, "secret.known in /d/1"));
}

static void ISO_11_a_path_is_shown_in_ascii_or_withheld(void)
{
	static const char odd[] = "a b/\xff\n\\";
	_cleanup_free_ char *plain = inspect_place("src/a.c", 7, &options),
			    *escaped = inspect_place(odd, sizeof(odd) - 1, &options),
			    *secret = inspect_place("x/" SECRET, sizeof(SECRET) + 1, &options),
			    *token = inspect_place("x/" TOKEN, strlen(TOKEN) + 2, &options);

	CHECK(str_eq(plain, "src/a.c"));
	CHECK(str_eq(escaped, "a\\x20b/\\xff\\x0a\\x5c"));
	CHECK(str_eq(secret, "(path withheld)"));
	CHECK(str_eq(token, "(path withheld)"));
}

static void findings_beyond_the_maximum_are_counted(void)
{
	_cleanup_inspect_found_ struct inspect_found found = { 0 };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < INSPECT_FINDINGS_MAX + 3; i++)
		strbuf_puts(&b, TOKEN "\n");
	inspect_text("x", b.text, b.len, &found);
	text = inspect_found_describe(&found);
	CHECK(found.n == INSPECT_FINDINGS_MAX && found.total == INSPECT_FINDINGS_MAX + 3);
	CHECK(text && str_starts(text, "secret.token.github in x:1, ") && str_ends(text, " and 3 more"));
}

/* As many findings as are kept, with the longest rules and places that every byte makes longer. */
static void the_findings_of_a_record_have_a_maximum(void)
{
	const struct inspect_options o = { .secrets = &known, .n_secrets = 1 };
	_cleanup_inspect_found_ struct inspect_found found = { .options = &o };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_jdoc_ struct jdoc *d = NULL;
	char path[1000];

	memset(path, 1, sizeof(path));
	for (size_t i = 0; i < INSPECT_FINDINGS_MAX; i++) {
		path[0] = (char)(1 + i);
		path[sizeof(path) - 1] = '\0';
		inspect_change(&(struct inspect_change){ .status = 'A', .path = path, .mode = 0100644 },
			       &found);
		inspect_content(&(struct inspect_change){ .status = 'A', .path = path, .mode = 0120000 },
				"/x", 2, &found);
	}
	d = inspect_found_to_json(&found);
	CHECK(found.n == INSPECT_FINDINGS_MAX && found.total > found.n);
	CHECK(jdoc_write(d, JDOC_CANONICAL, &b, NULL) == 0 && b.len <= INSPECT_JSON_MAX);
	CHECK(strlen(found.items[0].place) == 128 && str_ends(found.items[0].place, "..."));
}

static void only_rules_that_exist_and_may_be_allowed_are(void)
{
	char *const good[] = { (char *)"path.env", (char *)"line.long", NULL },
		    *const fixed[] = { (char *)"secret.known", NULL },
		    *const other[] = { (char *)"path", NULL };
	uint64_t set = 1;

	CHECK(inspect_rules_parse(NULL, &set, NULL) == 0 && set == 0);
	CHECK(inspect_rules_parse(good, &set, NULL) == 0);
	CHECK(set == (UINT64_C(1) << INSPECT_PATH_ENV | UINT64_C(1) << INSPECT_LINE_LONG));
	CHECK(inspect_rules_parse(fixed, &set, NULL) == -EINVAL);
	CHECK(inspect_rules_parse(other, &set, NULL) == -EINVAL);
}

/* docs/design/inspection.md has a row for each rule, in this order and with this text, and no other. */
static void the_page_shows_the_table_of_rules(void)
{
	const char *dir = getenv("SRCDIR"), *at;
	_cleanup_free_ char *name = NULL, *page = NULL;
	_cleanup_close_ int fd = -EBADF;
	size_t len, rows = 0;

	CHECK(asprintf(&name, "%s/docs/design/inspection.md", dir ? dir : ".") > 0);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && fd_read_all(fd, 1 << 20, &page, &len, NULL) == 0);
	at = page;
	for (enum inspect_rule r = 0; r < _INSPECT_RULE_MAX; r++) {
		_cleanup_free_ char *row = NULL;

		CHECK(asprintf(&row, "\n| `%s` | %s%s |\n", inspect_rule_name(r), inspect_rule_text(r),
			       inspect_rule_is_fixed(r) ? "; cannot be allowed" : "") > 0);
		at = strstr(at, row);
		if (!at)
			printf("# missing:%s", row);
		CHECK(at);
	}
	for (at = page; (at = strstr(at, "\n| `")); at++)
		rows++;
	CHECK(rows == _INSPECT_RULE_MAX);
}

TAP_MAIN(T(ISO_10_a_finding_has_a_place_and_no_value), T(ISO_10_a_name_that_is_no_plain_word_is_a_number),
	 T(ISO_10_an_allowed_rule_still_hides_the_name),
	 T(ISO_10_a_known_secret_is_found_in_the_usual_spellings),
	 T(ISO_10_a_short_known_secret_is_found_encoded_and_as_a_number),
	 T(ISO_11_a_path_is_shown_in_ascii_or_withheld), T(findings_beyond_the_maximum_are_counted),
	 T(the_findings_of_a_record_have_a_maximum), T(only_rules_that_exist_and_may_be_allowed_are),
	 T(the_page_shows_the_table_of_rules))
