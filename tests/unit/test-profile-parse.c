/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "layer/layer.h"
#include "profile/profile-impl.h"
#include "profile-fixture.h"
#include "tap.h"

static void defaults_are_the_safe_values(void)
{
	_cleanup_profile_ struct profile *p = NULL;

	CHECK(parse(HEAD "}", &p, NULL) == 0);
	CHECK(p->workspace == PROFILE_WORKSPACE_OVERLAY);
	CHECK(str_eq(p->workspace_source, "/srv/project") && !p->workspace_target);
	CHECK(p->root == PROFILE_ROOT_HOST_RO && strv_has(p->root_host_paths, "/usr"));
	CHECK(p->network == PROFILE_NETWORK_NONE);
	CHECK(p->process_init && str_eq(p->process_user, "root") && !p->process_cwd);
	CHECK(p->limit_memory == UINT64_C(2) << 30 && p->limit_pids == 512 && p->limit_cpu_percent == 200);
	CHECK(p->limit_time_s == 0 && p->limit_grace_s == 5 && p->limit_tmp == UINT64_C(256) << 20);
	CHECK(!p->fs_ro && !p->fs_rw && p->n_fs_tmpfs == 0 && !p->env_pass && p->n_env_set == 0);
	CHECK(p->layers == LAYER_BIT(_LAYER_MAX) - 1 && p->optional == 0);
}

static void every_field_is_filled(void)
{
	static const char text[] =
		"// a comment\n" HEAD ",\"description\":\"d\",\"dangerous\":[\"no-seccomp\"],"
		"\"root\":{\"type\":\"dir\",\"path\":\"/srv//root/\"},"
		"\"workspace\":{\"mode\":\"ro\",\"source\":\"${home}/x\",\"target\":\"/w\"},"
		"\"filesystem\":{\"ro\":[\"/opt/a\",\"/opt/b:/b/./c\"],\"rw\":[\"/opt/c\"],\"hide\":[\"/opt/"
		"a/x\"],"
		"\"tmpfs\":[{\"path\":\"/s\",\"size\":\"1M\"}]},"
		"\"env\":{\"pass\":[\"LC_*\"],\"set\":{\"A\":\"${user}-${uid}-${session}\"}},"
		"\"process\":{\"init\":false,\"hostname\":\"h\",\"user\":\"7:8\",\"cwd\":\"/w/d\"},"
		"\"limits\":{\"memory\":\"1G\",\"pids\":10,\"cpu\":\"50%\",\"disk\":\"1M\",\"time\":\"30m\","
		"\"grace\":0,"
		"\"files\":64,\"tmp\":\"64K\"},"
		"\"seccomp\":{\"violation\":\"kill\",\"allow\":[\"ptrace\"],\"deny\":[\"keyctl\"]},"
		"\"enforce\":{\"optional\":[\"cpu-limit\"]},\"x-note\":[1]}";
	_cleanup_profile_ struct profile *p = NULL;

	CHECK(is_accepted(text));
	CHECK(parse(text, &p, NULL) == 0);
	CHECK(str_eq(p->name, "t") && str_eq(p->description, "d"));
	CHECK(p->root == PROFILE_ROOT_DIR && str_eq(p->root_path, "/srv/root"));
	CHECK(p->workspace == PROFILE_WORKSPACE_RO && str_eq(p->workspace_source, "/home/ann/x"));
	CHECK(str_eq(p->workspace_target, "/w"));
	CHECK(strv_has(p->fs_ro, "/opt/a") && strv_has(p->fs_ro, "/opt/b:/b/c") && strv_len(p->fs_ro) == 2);
	CHECK(strv_has(p->fs_rw, "/opt/c") && strv_has(p->fs_hide, "/opt/a/x"));
	CHECK(p->n_fs_tmpfs == 1 && str_eq(p->fs_tmpfs[0].path, "/s") && p->fs_tmpfs[0].size == 1 << 20);
	CHECK(strv_has(p->env_pass, "LC_*") && p->n_env_set == 1 && str_eq(p->env_set[0].name, "A"));
	CHECK(str_eq(p->env_set[0].value, "ann-1000-20261116T031500Z-1a2b3c4d"));
	CHECK(!p->process_init && str_eq(p->process_hostname, "h") && str_eq(p->process_user, "7:8"));
	CHECK(str_eq(p->process_cwd, "/w/d"));
	CHECK(p->limit_memory == 1 << 30 && p->limit_pids == 10 && p->limit_cpu_percent == 50);
	CHECK(p->limit_disk == 1 << 20 && p->limit_time_s == 1800 && p->limit_grace_s == 0);
	CHECK(p->limit_files == 64 && p->limit_tmp == 65536);
	CHECK(p->seccomp_violation == PROFILE_SECCOMP_KILL && strv_has(p->seccomp_allow, "ptrace"));
	CHECK(strv_has(p->seccomp_deny, "keyctl") && p->optional == LAYER_BIT(LAYER_CPU_LIMIT));
	CHECK(!(p->layers & LAYER_BIT(LAYER_SECCOMP)) && (p->layers & LAYER_BIT(LAYER_PID_NS)));
}

static void unknown_keys_are_refused_with_place_nearest_and_all(void)
{
	CHECK(is_refused("{\"schema\":1,\"name\":\"t\",\n  \"limits\":{\"memroy\":1}}",
			 "t.json:2:13: unknown key"));
	CHECK(is_refused(HEAD ",\"limits\":{\"memroy\":1}}", "'limits.memroy': did you mean 'memory'?"));
	CHECK(is_refused(HEAD ",\"limits\":{\"zzzzzz\":1}}", "allowed here: memory, pids, cpu"));
	CHECK(is_refused(HEAD ",\"netwrok\":{}}", "did you mean 'network'?"));
	CHECK(is_refused(HEAD ",\"limits.memory\":\"1G\"}", "unknown key 'limits.memory'"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"tmpfs\":[{\"path\":\"/a\",\"sise\":1}]}}",
			 "unknown key 'sise'"));
	CHECK(is_refused(HEAD ",\"X-note\":1}", "unknown key"));
}

static void own_notes_are_accepted_everywhere(void)
{
	CHECK(is_accepted(
		HEAD ",\"x-a\":{\"b\":[null]},\"$schema\":\"s\",\"limits\":{\"x-why\":\"${unknown}\"}}"));
}

static void wrong_types_name_both(void)
{
	CHECK(is_refused(
		HEAD ",\"limits\":{\"memory\":[]}}",
		"'limits.memory' must be a size such as \"512M\" or an integer (bytes), not of type array"));
	CHECK(is_refused(HEAD ",\"limits\":1}", "'limits' must be an object, not of type"));
	CHECK(is_refused(HEAD ",\"process\":{\"init\":\"yes\"}}",
			 "must be true or false, not of type string"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":\"/a\"}}", "must be an array of strings"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[1]}}", "must be an array of strings"));
	CHECK(is_refused(HEAD ",\"limits\":{\"pids\":\"512\"}}", "'512' is not an integer or \"none\""));
	CHECK(is_refused(HEAD ",\"env\":{\"set\":{\"A\":1}}}", "must be an object of strings"));
	CHECK(is_refused(HEAD ",\"description\":null}", "not of type null"));
	CHECK(is_refused("[]", "a profile must be an object"));
}

static void the_head_is_required(void)
{
	CHECK(is_refused("{\"name\":\"t\"}", "add \"schema\": 1"));
	CHECK(is_refused("{\"schema\":2,\"name\":\"t\",\"later\":1}", "schema 2 is not supported"));
	CHECK(is_refused("{\"schema\":\"1\",\"name\":\"t\"}", "'schema' must be an integer"));
	CHECK(is_refused("{\"schema\":1}", "missing key 'name'"));
	CHECK(is_refused("{\"schema\":1,\"name\":\"T\"}", "'T' is not a name"));
	CHECK(is_refused("{\"schema\":1,\"name\":\"../t\"}", "is not a name"));
	CHECK(is_refused(HEAD ",\"extends\":\"a\"}", "loaded by name"));
}

static void units_are_read(void)
{
	_cleanup_profile_ struct profile *p = NULL;

	CHECK(parse(HEAD ",\"limits\":{\"memory\":1048576,\"cpu\":150,\"time\":90,\"disk\":\"none\",\"pids\":"
			 "\"none\"}}",
		    &p, NULL) == 0);
	CHECK(p->limit_memory == 1048576 && p->limit_cpu_percent == 150 && p->limit_time_s == 90);
	CHECK(p->limit_disk == 0 && p->limit_pids == 0);
}

static void numbers_out_of_range_are_refused_not_clamped(void)
{
	CHECK(is_refused(HEAD ",\"limits\":{\"memory\":1}}", "out of range: from 1048576"));
	CHECK(is_refused(HEAD ",\"limits\":{\"memory\":\"99999999T\"}}", "out of range"));
	CHECK(is_refused(HEAD ",\"limits\":{\"memory\":-1}}", "out of range"));
	CHECK(is_refused(HEAD ",\"limits\":{\"pids\":1}}", "out of range"));
	CHECK(is_refused(HEAD ",\"limits\":{\"grace\":\"2h\"}}", "out of range: from 0 to 3600"));
	CHECK(is_refused(HEAD ",\"limits\":{\"tmp\":0}}", "out of range"));
	CHECK(is_refused(HEAD ",\"limits\":{\"tmp\":\"none\"}}", "is not a size"));
	CHECK(is_refused(HEAD ",\"limits\":{\"memory\":\"1.5G\"}}", "'1.5G' is not a size"));
	CHECK(is_refused(HEAD ",\"limits\":{\"cpu\":\"2\"}}", "'2' is not a percentage"));
	CHECK(is_refused(HEAD ",\"limits\":{\"memory\":1.5}}", "t.json:1:"));
	CHECK(is_refused(HEAD ",\"process\":{\"user\":\"65536\"}}", "'65536' is not"));
}

static void words_are_checked_with_the_nearest(void)
{
	CHECK(is_refused(HEAD ",\"workspace\":{\"mode\":\"overlya\"}}", "did you mean 'overlay'?"));
	CHECK(is_refused(HEAD ",\"workspace\":{\"mode\":\"q\"}}", "allowed: overlay, ro, rw, tmpfs"));
	CHECK(is_refused(HEAD ",\"dangerous\":[\"no-secomp\"]}", "did you mean 'no-seccomp'?"));
	CHECK(is_refused(HEAD ",\"enforce\":{\"optional\":[\"cpu\"]}}", "unknown word 'cpu'"));
	CHECK(is_refused(HEAD ",\"forensics\":{\"on\":[\"explode\"]}}", "unknown word 'explode'"));
}

static void only_limits_may_be_optional(void)
{
	CHECK(is_refused(HEAD ",\"enforce\":{\"optional\":[\"seccomp\"]}}", "'seccomp' cannot be optional"));
	CHECK(is_accepted(HEAD ",\"enforce\":{\"optional\":[\"memory-limit\",\"cgroup-namespace\"]}}"));
}

static void unknown_variables_are_refused(void)
{
	CHECK(is_refused(HEAD ",\"env\":{\"set\":{\"A\":\"${PATH}\"}}}", "unknown variable '${PATH}'"));
	CHECK(is_refused(HEAD ",\"env\":{\"set\":{\"A\":\"${hom}\"}}}", "did you mean '${home}'?"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"~bob/a\"]}}",
			 "only ~ and ~/ stand for a home directory"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/a:~bob\"]}}",
			 "only ~ and ~/ stand for a home directory"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"a/~\"]}}", "is not an absolute path"));
	CHECK(is_refused(HEAD ",\"env\":{\"set\":{\"A\":\"${home\"}}}", "without a variable name"));
	CHECK(is_refused(HEAD ",\"env\":{\"set\":{\"A\":\"${}\"}}}", "unknown variable '${}'"));
	CHECK(is_accepted(HEAD ",\"env\":{\"set\":{\"A\":\"$HOME $ {x}\"}}}"));
}

static void a_tilde_is_the_home_directory_in_paths_only(void)
{
	static const char text[] =
		HEAD ",\"filesystem\":{\"ro\":[\"~/a~b\",\"~/c:~/d\",\"/e:~\"],\"rw\":[\"/x~/y\"],"
		     "\"tmpfs\":[{\"path\":\"~/t\",\"size\":\"1M\"}]},"
		     "\"env\":{\"set\":{\"A\":\"~/a\"}},\"workspace\":{\"source\":\"~\"}}";
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(parse(text, &p, &f) == 0);
	CHECK(strv_has(p->fs_ro, "/home/ann/a~b") && strv_has(p->fs_ro, "/home/ann/c:/home/ann/d") &&
	      strv_has(p->fs_ro, "/e:/home/ann"));
	CHECK(strv_has(p->fs_rw, "/x~/y") && str_eq(p->workspace_source, "/home/ann"));
	CHECK(p->n_env_set == 1 && str_eq(p->env_set[0].value, "~/a"));
}

static void a_variable_is_not_expanded_twice(void)
{
	static const char text[] = HEAD ",\"filesystem\":{\"ro\":[\"${cwd}/a\"]}}";
	struct profile_vars odd = vars;
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	odd.cwd = "/srv/${session}";
	CHECK(profile_parse(text, strlen(text), "t.json", &odd, &p, &f) < 0);
	CHECK(strstr(fault_text(&f), "must not contain"));
}

static void a_missing_value_of_a_variable_is_refused(void)
{
	static const char text[] = HEAD ",\"filesystem\":{\"ro\":[\"${home}/a\"]}}";
	struct profile_vars none = { .cwd = "/"
					    "srv" };
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(profile_parse(text, strlen(text), "t.json", &none, &p, &f) < 0);
	CHECK(strstr(fault_text(&f), "${home} has no value here"));
}

static void paths_are_absolute_and_plain(void)
{
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"opt\"]}}", "'opt' is not an absolute path"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"\"]}}", "is not an absolute path"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/opt/../etc\"]}}", "'/opt/../etc'"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"${cwd}/../..\"]}}", ".."));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/a:b\"]}}", "'b' is not an absolute path"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/a:/b:ro\"]}}", "list the path in 'ro' or 'rw'"));
	CHECK(is_refused(HEAD ",\"workspace\":{\"target\":\"work\"}}", "not an absolute path"));
}

static void targets_are_distinct_and_not_ours(void)
{
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/a\"],\"rw\":[\"/b:/a\"]}}",
			 "two entries have the target '/a'"));
	CHECK(is_refused(HEAD ",\"workspace\":{\"target\":\"/work\"},\"filesystem\":{\"ro\":[\"/a:/work\"]}}",
			 "two entries have the target '/work'"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/a:/proc/x\"]}}", "which custody uses itself"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/a:/dev\"]}}", "which custody uses itself"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"ro\":[\"/a:/\"]}}", "must not be '/'"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"tmpfs\":[{\"path\":\"/tmp\",\"size\":\"1M\"}]}}",
			 "limits.tmp"));
	CHECK(is_refused(HEAD ",\"filesystem\":{\"tmpfs\":[{\"path\":\"/s\"}]}}", "needs path and size"));
}

static void the_root_and_its_path_belong_together(void)
{
	CHECK(is_refused(HEAD ",\"root\":{\"type\":\"dir\"}}", "'root.path' is missing"));
	CHECK(is_refused(HEAD ",\"root\":{\"path\":\"/srv/r\"}}", "'root.path' is only for 'root.type' dir"));
}

static void environment_names_are_an_allow_list(void)
{
	CHECK(is_refused(HEAD ",\"env\":{\"pass\":[\"*\"]}}", "'*' is not a variable's name"));
	CHECK(is_refused(HEAD ",\"env\":{\"pass\":[\"A*\"]}}", "'A*' is not"));
	CHECK(is_refused(HEAD ",\"env\":{\"pass\":[\"A*B\"]}}", "'A*B' is not"));
	CHECK(is_refused(HEAD ",\"env\":{\"set\":{\"A=B\":\"c\"}}}", "'A=B' is not a variable's name"));
	CHECK(is_refused(HEAD ",\"env\":{\"set\":{\"\":\"c\"}}}", "is not a variable's name"));
}

static void binary_and_broken_text_is_refused_with_its_place(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(profile_parse("\x7f"
			    "ELF\0\1",
			    6, "t.json", &vars, &p, &f) < 0);
	CHECK(strstr(fault_text(&f), "NUL byte"));
	CHECK(is_refused(HEAD ",}", "t.json:1:"));
	CHECK(is_refused("", "t.json"));
	CHECK(is_refused(HEAD ",\"limits\":{},\"limits\":{}}", "t.json:1:"));
	CHECK(is_refused("\x7f"
			 "ELF",
			 "t.json:1:"));
}

static void later_sections_are_checked_now(void)
{
	CHECK(is_refused(HEAD ",\"governance\":{\"security_profile\":\"hard\"}}", "unknown word 'hard'"));
	CHECK(is_refused(HEAD ",\"governance\":{\"min_approvals\":0}}", "out of range"));
	CHECK(is_refused(HEAD ",\"forensics\":{\"expect_exit\":[256]}}", "out of range"));
	CHECK(is_refused(HEAD ",\"forensics\":{\"expect_exit\":[\"1\"]}}", "must be an array of integers"));
	CHECK(is_refused(HEAD ",\"broker\":{\"tool\":[]}}", "did you mean 'tools'?"));
	CHECK(is_refused(HEAD ",\"trust\":{\"context_file\":\"a/b\"}}", "is not a file's name"));
}

static void a_section_of_a_later_version_refuses_the_run_by_name(void)
{
	static const char *const texts[][2] = {
		{ HEAD ",\"trust\":{\"context_file\":\"ai.project.json\"}}", "section 'trust'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_profile_ struct profile *p = NULL;
		_cleanup_fault_ struct fault f = { 0 };

		CHECK(parse(texts[i][0], &p, NULL) == 0);
		CHECK(profile_require_supported(p, &f) == -ENOTSUP);
		CHECK(strstr(fault_text(&f), texts[i][1]) && strstr(fault_text(&f), "profile 't'"));
	}
}

static void an_empty_section_asks_for_nothing(void)
{
	_cleanup_profile_ struct profile *p = NULL;

	CHECK(parse(HEAD ",\"broker\":{},\"audit\":{\"x-a\":1}}", &p, NULL) == 0);
	CHECK(profile_require_supported(p, NULL) == 0);
}

static void governance_and_audit_are_supported(void)
{
	_cleanup_profile_ struct profile *p = NULL, *q = NULL, *s = NULL;

	CHECK(parse(HEAD ",\"governance\":{\"allow_self\":false},\"audit\":{\"redact\":[\"--token\"]}}", &p,
		    NULL) == 0);
	CHECK(profile_require_supported(p, NULL) == 0);
	/* The hook's arguments pass these on to bundles.  Settings that are not passed on are refused there. */
	CHECK(profile_require_portable(p, NULL) == 0);
	CHECK(parse(HEAD ",\"forensics\":{\"on\":[\"oom\"]}}", &q, NULL) == 0);
	CHECK(profile_require_supported(q, NULL) == 0 && profile_require_portable(q, NULL) == 0);
	CHECK(parse(HEAD ",\"workspace\":{\"sandbox\":\"a\"}}", &s, NULL) == 0);
	CHECK(profile_require_supported(s, NULL) == 0 && profile_require_portable(s, NULL) == -ENOTSUP);
}

static bool is_same_digest(const char *a, const char *b)
{
	_cleanup_profile_ struct profile *p = NULL, *q = NULL;

	return parse(a, &p, NULL) == 0 && parse(b, &q, NULL) == 0 && digest_equal(&p->digest, &q->digest);
}

static void the_digest_covers_the_effective_profile(void)
{
	static const char base[] =
		HEAD ",\"limits\":{\"pids\":9},\"env\":{\"set\":{\"A\":\"${home}\",\"B\":\"\"}}}";

	CHECK(is_same_digest(base, base));
	CHECK(is_same_digest(base, "/* c */ " HEAD ",\"x-a\":1,\"$schema\":\"s\",\"description\":\"d\","
				   "\"env\":{\"set\":{\"B\":\"\",\"A\":\"/home/"
				   "ann\"}},\"limits\":{\"x-b\":2,\"pids\":9}} //\n"));
	CHECK(!is_same_digest(base, HEAD
			      ",\"limits\":{\"pids\":10},\"env\":{\"set\":{\"A\":\"${home}\",\"B\":\"\"}}}"));
	CHECK(!is_same_digest(HEAD "}", HEAD ",\"dangerous\":[\"rw-home\"]}"));
}

static void the_digest_does_not_know_the_session(void)
{
	static const char text[] = HEAD ",\"env\":{\"set\":{\"A\":\"${session}\"}}}";
	_cleanup_profile_ struct profile *p = NULL, *q = NULL, *n = NULL;
	struct profile_vars other = vars;

	other.session = "20270101T000000Z-00000000";
	CHECK(parse(text, &p, NULL) == 0);
	CHECK(profile_parse(text, strlen(text), "t.json", &other, &q, NULL) == 0);
	other.session = NULL;
	CHECK(profile_parse(text, strlen(text), "t.json", &other, &n, NULL) == 0);
	CHECK(digest_equal(&p->digest, &q->digest) && digest_equal(&p->digest, &n->digest));
	CHECK(str_eq(q->env_set[0].value, "20270101T000000Z-00000000"));
	CHECK(str_eq(n->env_set[0].value, "${session}"));
}

static void lists_and_texts_have_limits(void)
{
	_cleanup_strbuf_ struct strbuf many = { 0 }, huge = { 0 };

	strbuf_puts(&many, HEAD ",\"env\":{\"pass\":[\"A0\"");
	for (int i = 1; i <= KEY_LIST_MAX; i++)
		strbuf_printf(&many, ",\"A%d\"", i);
	strbuf_puts(&many, "]}}");
	CHECK(is_refused(many.text, "has 513 items, at most 512"));
	strbuf_puts(&huge, HEAD ",\"description\":\"");
	for (int i = 0; i < KEY_TEXT_MAX; i++)
		strbuf_putc(&huge, 'a');
	strbuf_puts(&huge, "\"}");
	CHECK(is_refused(huge.text, "the text has 4096 bytes"));
}

static void every_value_knows_its_origin(void)
{
	_cleanup_profile_ struct profile *p = NULL;
	const struct jdoc *v;

	CHECK(parse("{\"schema\":1,\"name\":\"t\",\n\"limits\":{\"pids\":9}}", &p, NULL) == 0);
	v = key_row_value(profile_key_find("limits", "pids"), p->document);
	CHECK(v && str_eq(v->origin, "t.json") && v->line == 2);
}

TAP_MAIN(T(defaults_are_the_safe_values), T(every_field_is_filled),
	 T(unknown_keys_are_refused_with_place_nearest_and_all), T(own_notes_are_accepted_everywhere),
	 T(wrong_types_name_both), T(the_head_is_required), T(units_are_read),
	 T(numbers_out_of_range_are_refused_not_clamped), T(words_are_checked_with_the_nearest),
	 T(only_limits_may_be_optional), T(unknown_variables_are_refused),
	 T(a_tilde_is_the_home_directory_in_paths_only), T(a_variable_is_not_expanded_twice),
	 T(a_missing_value_of_a_variable_is_refused), T(paths_are_absolute_and_plain),
	 T(targets_are_distinct_and_not_ours), T(the_root_and_its_path_belong_together),
	 T(environment_names_are_an_allow_list), T(binary_and_broken_text_is_refused_with_its_place),
	 T(later_sections_are_checked_now), T(a_section_of_a_later_version_refuses_the_run_by_name),
	 T(an_empty_section_asks_for_nothing), T(governance_and_audit_are_supported),
	 T(the_digest_covers_the_effective_profile), T(the_digest_does_not_know_the_session),
	 T(lists_and_texts_have_limits), T(every_value_knows_its_origin))
