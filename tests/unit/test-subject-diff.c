/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "subject/subject-diff.h"
#include "tap.h"

#include "subject-fixture.h"

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;

	(void)!jdoc_parse(text, strlen(text), "x", NULL, &d, NULL);
	return d;
}

/* GOV-9: a refusal names the change. */
static void each_kind_of_difference_has_its_line(void)
{
	/* clang-format off */
	static const struct { const char *was, *is, *lines; } rows[] = {
		{ "{\"a\":1}", "{\"a\":1}", "" },
		{ "{\"argv\":[\"x\",\"y\",\"a\"]}", "{\"argv\":[\"x\",\"y\",\"b\"]}", "argv[2]: was 'a', is 'b'\n" },
		{ "{\"argv\":[\"x\"]}", "{\"argv\":[\"x\",\"-f\"]}", "argv[1]: was unset, is '-f'\n" },
		{ "{\"argv\":[\"x\",\"-n\"]}", "{\"argv\":[\"x\"]}", "argv[1]: was '-n', is unset\n" },
		{ "{\"argv\":[\"x\",\"y\",\"z\"]}", "{\"argv\":[\"x\",\"-f\",\"y\",\"z\"]}", "argv[1]: was unset, is '-f'\n" },
		{ "{\"argv\":[\"x\",\"-f\",\"y\",\"y\"]}", "{\"argv\":[\"x\",\"y\",\"y\"]}", "argv[1]: was '-f', is unset\n" },
		{ "{\"argv\":[\"x\",\"x\"]}", "{\"argv\":[\"x\"]}", "argv[1]: was 'x', is unset\n" },
		{ "{\"argv\":[\"x\",\"y\"]}", "{\"argv\":[\"a\",\"b\",\"y\"]}", "argv[0]: was 'x', is 'a'\nargv[1]: was unset, is 'b'\n" },
		{ "{\"mounts\":[{\"to\":1},{\"to\":2}]}", "{\"mounts\":[{\"to\":0},{\"to\":1},{\"to\":2}]}",
		  "mounts[0]: was unset, is {\"to\":0}\n" },
		{ "{\"limits\":{\"pids\":7}}", "{\"limits\":{\"pids\":8}}", "limits.pids: was 7, is 8\n" },
		{ "{\"limits\":{\"pids\":7}}", "{\"limits\":null}", "limits: was {\"pids\":7}, is null\n" },
		{ "{\"mounts\":[{\"rw\":false}]}", "{\"mounts\":[{\"rw\":true}]}", "mounts[0].rw: was false, is true\n" },
		{ "{\"a\":1,\"b\":2}", "{\"b\":3,\"c\":4}", "a: was 1, is unset\nb: was 2, is 3\nc: was unset, is 4\n" },
		{ "{\"env\":{\"A\":\"11\",\"B\":\"22\",\"C\":\"33\"}}", "{\"env\":{\"B\":\"23\",\"C\":\"33\",\"D\":\"44\"}}",
		  "env.A: removed\nenv.B: changed\nenv.D: added\n" },
		{ "{\"process\":{\"env\":[\"A=secret\",\"B=2\",\"C=3\"]}}", "{\"process\":{\"env\":[\"B=hidden\",\"C=3\",\"D=new\"]}}",
		  "process.env.A: removed\nprocess.env.B: changed\nprocess.env.D: added\n" },
		{ "{\"env\":{\"A\":\"1\"}}", "{}", "env.A: removed\n" },
		{ "{\"env\":{\"A\":\"1\"}}", "{\"env\":\"secret\"}", "env.A: removed\n" },
		{ "{\"env\":\"secret\"}", "{\"env\":\"hidden\"}", "env.*: changed\n" },
		{ "{\"cwd\":\"/a\\u001b[2J\"}", "{\"cwd\":\"/a\"}", "cwd: was '/a\\x1B[2J', is '/a'\n" },
		{ "{\"a\\nb\":1}", "{\"a\\nb\":2}", "a\\x0Ab: was 1, is 2\n" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_jdoc_ struct jdoc *was = parse(rows[i].was), *is = parse(rows[i].is), *diff = NULL;
		_cleanup_strbuf_ struct strbuf t = { 0 };

		CHECK(was && is);
		diff = subject_diff(was, is);
		CHECK(diff && diff->type == JDOC_ARRAY);
		CHECK(subject_diff_print(diff, 100, &t, NULL) == 0);
		if (strcmp(t.text ? t.text : "", rows[i].lines) != 0)
			printf("# %s\n", t.text);
		CHECK(strcmp(t.text ? t.text : "", rows[i].lines) == 0);
		CHECK((diff->n_items == 0) == (rows[i].lines[0] == '\0'));
	}
}

static void values_of_the_environment_are_never_shown(void)
{
	_cleanup_jdoc_ struct jdoc
		*was = parse(
			"{\"process\":{\"env\":[\"A=secret\",\"=secret\",7]},\"env\":{\"A\":\"secret\"}}"),
		*is = parse("{\"process\":{\"env\":[\"A=hidden\",\"secret\"]},\"env\":[\"secret\"]}"),
		*diff = subject_diff(was, is);
	_cleanup_strbuf_ struct strbuf lines = { 0 }, json = { 0 };

	CHECK(was && is && diff && diff->n_items > 0);
	CHECK(subject_diff_print(diff, 100, &lines, NULL) == 0);
	CHECK(jdoc_write(diff, JDOC_CANONICAL, &json, NULL) == 0);
	CHECK(!strstr(lines.text, "hidden") && !strstr(json.text, "hidden"));
	CHECK(!strstr(lines.text, "=secret") && !strstr(json.text, "=secret"));
}

static void a_long_list_is_cut_and_marked(void)
{
	_cleanup_jdoc_ struct jdoc *was = jdoc_new_array(), *is = jdoc_new_array(), *diff = NULL;
	_cleanup_strbuf_ struct strbuf t = { 0 };

	for (int i = 0; i < 9; i++)
		jdoc_append(was, jdoc_new_int(i));
	diff = subject_diff(was, is);
	CHECK(diff->n_items == 9);
	CHECK(subject_diff_print(diff, 2, &t, NULL) == 0);
	CHECK(strcmp(t.text, "[0]: was 0, is unset\n[1]: was 1, is unset\nand 7 more\n") == 0);
}

static void a_long_value_is_cut_between_letters(void)
{
	_cleanup_jdoc_ struct jdoc *was = jdoc_new_object(), *is = jdoc_new_object(), *diff = NULL;
	_cleanup_strbuf_ struct strbuf t = { 0 }, text = { 0 };

	strbuf_putc(&text, 'x');
	for (int i = 0; i < 400; i++)
		strbuf_puts(&text, "\xc3\xa9");
	jdoc_set_string(was, "a", text.text);
	diff = subject_diff(was, is);
	CHECK(subject_diff_print(diff, 9, &t, NULL) == 0);
	CHECK(t.len < 200 && strstr(t.text, "...'") && str_is_utf8(t.text, t.len));
}

static void two_subjects_differ_where_they_were_changed(void)
{
	struct profile p = fixture_profile(), q = fixture_profile();
	struct subject s = fixture_subject(&p), u = fixture_subject(&q);
	_cleanup_jdoc_ struct jdoc *a = NULL, *b = NULL, *diff = NULL;
	_cleanup_strbuf_ struct strbuf t = { 0 };
	static char *env[] = { S("HOME=/home/sandbox"), S("PATH=/usr/bin"), S("SECRET=hunter3"), NULL };

	u.env = env;
	q.network = PROFILE_NETWORK_HOST;
	CHECK(subject_to_json(&s, &fixture_key, &a, NULL) == 0 &&
	      subject_to_json(&u, &fixture_key, &b, NULL) == 0);
	diff = subject_diff(a, b);
	CHECK(subject_diff_print(diff, 9, &t, NULL) == 0);
	CHECK(strcmp(t.text, "env.SECRET: changed\nnetwork: was 'none', is 'host'\n") == 0);
}

TAP_MAIN(T(each_kind_of_difference_has_its_line), T(values_of_the_environment_are_never_shown),
	 T(a_long_list_is_cut_and_marked), T(a_long_value_is_cut_between_letters),
	 T(two_subjects_differ_where_they_were_changed))
