/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "profile/profile-impl.h"
#include "profile-fixture.h"
#include "tap.h"

/* Per key: a base, values that loosen it, values that tighten it or leave it as it is; each a whole document body. */
struct relation {
	const char *key, *base;
	const char *looser[4], *tighter[4];
};

/* clang-format off */
static const struct relation relations[] = {
	{ "dangerous", ",\"dangerous\":[\"rw-home\"]",
	  { ",\"dangerous\":[\"rw-home\",\"rw-root\"]", ",\"dangerous\":[\"no-seccomp\"]" },
	  { "", ",\"dangerous\":[]" } },
	{ "root.type", "",
	  { ",\"root\":{\"type\":\"dir\",\"path\":\"/srv/r\"}" }, { ",\"root\":{\"type\":\"host-ro\"}" } },
	{ "root.path", ",\"root\":{\"type\":\"dir\",\"path\":\"/srv/r\"}",
	  { ",\"root\":{\"type\":\"dir\",\"path\":\"/srv/q\"}", ",\"root\":{\"type\":\"dir\",\"path\":\"/srv/r/q\"}" }, { 0 } },
	{ "root.paths", ",\"root\":{\"paths\":[\"/usr\",\"/bin\"]}",
	  { ",\"root\":{\"paths\":[\"/usr\",\"/bin\",\"/srv\"]}", "" }, { ",\"root\":{\"paths\":[\"/usr\"]}" } },
	{ "workspace.mode", "",
	  { ",\"workspace\":{\"mode\":\"rw\"}" },
	  { ",\"workspace\":{\"mode\":\"ro\"}", ",\"workspace\":{\"mode\":\"tmpfs\"}" } },
	{ "workspace.mode", ",\"workspace\":{\"mode\":\"ro\"}",
	  { ",\"workspace\":{\"mode\":\"overlay\"}", ",\"workspace\":{\"mode\":\"rw\"}" },
	  { ",\"workspace\":{\"mode\":\"tmpfs\"}" } },
	{ "workspace.mode", ",\"workspace\":{\"mode\":\"tmpfs\"}",
	  { ",\"workspace\":{\"mode\":\"ro\"}", "" }, { 0 } },
	{ "workspace.overlay", "", { ",\"workspace\":{\"overlay\":\"fuse\"}" }, { ",\"workspace\":{\"overlay\":\"kernel\"}" } },
	{ "workspace.source", "",
	  { ",\"workspace\":{\"source\":\"/srv\"}", ",\"workspace\":{\"source\":\"/srv/project2\"}" },
	  { ",\"workspace\":{\"source\":\"${cwd}/sub\"}" } },
	{ "workspace.sandbox", ",\"workspace\":{\"mode\":\"ro\",\"sandbox\":\"a\"}",
	  { ",\"workspace\":{\"mode\":\"ro\",\"sandbox\":\"b\"}" }, { ",\"workspace\":{\"mode\":\"tmpfs\",\"sandbox\":\"a\"}" } },
	{ "workspace.mode", ",\"workspace\":{\"mode\":\"ro\",\"sandbox\":\"a\"}",
	  { ",\"workspace\":{\"sandbox\":\"a\"}" }, { 0 } },
	{ "workspace.target", "", { ",\"workspace\":{\"target\":\"/other\"}" }, { 0 } },
	{ "filesystem.ro", ",\"filesystem\":{\"ro\":[\"/a\",\"/b\"],\"rw\":[\"/c\"]}",
	  { ",\"filesystem\":{\"ro\":[\"/a\",\"/d\"]}", ",\"filesystem\":{\"ro\":[\"/a:/x\"]}" },
	  { ",\"filesystem\":{\"ro\":[\"/a\"]}", ",\"filesystem\":{\"ro\":[\"/c\"]}", "" } },
	{ "filesystem.rw", ",\"filesystem\":{\"rw\":[\"/c\"]}",
	  { ",\"filesystem\":{\"rw\":[\"/c\",\"/d\"]}", ",\"filesystem\":{\"rw\":[\"/c/d\"]}" }, { "" } },
	{ "workspace.protect", ",\"workspace\":{\"protect\":[\"a\"]}",
	  { "", ",\"workspace\":{\"protect\":[\"b\"]}" },
	  { ",\"workspace\":{\"protect\":[\"a\",\"b\"]}" } },
	{ "workspace.ask", ",\"workspace\":{\"ask\":[\"a\"]}",
	  { "", ",\"workspace\":{\"ask\":[\"b\"]}" }, { ",\"workspace\":{\"ask\":[\"a\",\"b\"]}" } },
	{ "workspace.ask_deletions", ",\"workspace\":{\"ask_deletions\":5}",
	  { "", ",\"workspace\":{\"ask_deletions\":6}" }, { ",\"workspace\":{\"ask_deletions\":0}" } },
	{ "workspace.allow", ",\"workspace\":{\"allow\":[\"a\",\"b\"]}",
	  { ",\"workspace\":{\"allow\":[\"c\"]}" }, { "", ",\"workspace\":{\"allow\":[\"a\"]}" } },
	{ "workspace.continue", "", { ",\"workspace\":{\"continue\":true}" }, { ",\"workspace\":{\"continue\":false}" } },
	{ "workspace.show_secrets", "", { ",\"workspace\":{\"show_secrets\":true}" }, { ",\"workspace\":{\"show_secrets\":false}" } },
	{ "workspace.show_secrets", ",\"workspace\":{\"show_secrets\":true}", { 0 }, { "" } },
	{ "filesystem.tools", "", { ",\"filesystem\":{\"tools\":true}" }, { ",\"filesystem\":{\"tools\":false}" } },
	{ "filesystem.tools", ",\"filesystem\":{\"tools\":true}", { 0 }, { "" } },
	{ "filesystem.channels", ",\"filesystem\":{\"channels\":[\"/a/s\"]}",
	  { ",\"filesystem\":{\"channels\":[\"/a/s\",\"/b\"]}", ",\"filesystem\":{\"channels\":[\"/a\"]}" }, { "" } },
	{ "filesystem.hide", ",\"filesystem\":{\"hide\":[\"/a\"]}",
	  { "", ",\"filesystem\":{\"hide\":[\"/b\"]}" }, { ",\"filesystem\":{\"hide\":[\"/b\",\"/a\"]}" } },
	{ "filesystem.tmpfs", ",\"filesystem\":{\"tmpfs\":[{\"path\":\"/t\",\"size\":\"2M\"}]}",
	  { ",\"filesystem\":{\"tmpfs\":[{\"path\":\"/t\",\"size\":\"3M\"}]}",
	    ",\"filesystem\":{\"tmpfs\":[{\"path\":\"/u\",\"size\":\"1M\"}]}" },
	  { ",\"filesystem\":{\"tmpfs\":[{\"path\":\"/t\",\"size\":\"1M\"}]}", "" } },
	{ "env.pass", ",\"env\":{\"pass\":[\"LC_*\",\"TZ\"]}",
	  { ",\"env\":{\"pass\":[\"TZ*\"]}", ",\"env\":{\"pass\":[\"TOKEN\"]}", ",\"env\":{\"pass\":[\"LC*\"]}" },
	  { ",\"env\":{\"pass\":[\"LC_ALL\"]}", ",\"env\":{\"pass\":[\"LC_A*\"]}", "" } },
	{ "env.set", ",\"env\":{\"set\":{\"A\":\"1\"}}",
	  { ",\"env\":{\"set\":{\"A\":\"2\"}}", ",\"env\":{\"set\":{\"B\":\"1\"}}" }, { "" } },
	{ "process.init", "", { ",\"process\":{\"init\":false}" }, { ",\"process\":{\"init\":true}" } },
	{ "process.init", ",\"process\":{\"init\":false}", { 0 }, { "" } },
	{ "process.user", "", { ",\"process\":{\"user\":\"0:7\"}", ",\"process\":{\"user\":\"7:0\"}" },
	  { ",\"process\":{\"user\":\"7\"}", ",\"process\":{\"user\":\"7:7\"}" } },
	{ "process.home", "", { ",\"process\":{\"home\":\"keep\"}", ",\"process\":{\"home\":\"keep=x\"}" },
	  { ",\"process\":{\"home\":\"memory\"}" } },
	{ "process.cwd", "",
	  { ",\"process\":{\"cwd\":\"/proc/self/fd/6\"}", ",\"process\":{\"cwd\":\"/workx\"}", ",\"process\":{\"cwd\":\"/\"}" },
	  { ",\"process\":{\"cwd\":\"/work/sub\"}", ",\"process\":{\"cwd\":\"/work\"}", ",\"process\":{\"cwd\":\"/srv/project/sub\"}" } },
	{ "process.cwd", ",\"workspace\":{\"target\":\"/w\"}",
	  { ",\"workspace\":{\"target\":\"/w\"},\"process\":{\"cwd\":\"/work\"}" },
	  { ",\"workspace\":{\"target\":\"/w\"},\"process\":{\"cwd\":\"/w/sub\"}" } },
	{ "process.user", ",\"process\":{\"user\":\"7\"}", { "", ",\"process\":{\"user\":\"8\"}" }, { 0 } },
	{ "network.mode", "", { ",\"network\":{\"mode\":\"host\"}" }, { ",\"network\":{\"mode\":\"none\"}" } },
	{ "network.mode", ",\"network\":{\"mode\":\"host\"}", { 0 }, { ",\"network\":{\"mode\":\"allow\",\"hosts\":[{\"host\":\"a.b\"}]}" } },
	{ "network.mode", ",\"network\":{\"mode\":\"none\",\"hosts\":[{\"host\":\"a.b\"}]}",
	  { ",\"network\":{\"mode\":\"allow\",\"hosts\":[{\"host\":\"a.b\"}]}" }, { "" } },
	{ "network.hosts", ",\"network\":{\"mode\":\"allow\",\"hosts\":[{\"host\":\"*.a.b\"}]}",
	  { ",\"network\":{\"mode\":\"allow\",\"hosts\":[{\"host\":\"a.b\"}]}",
	    ",\"network\":{\"mode\":\"allow\",\"hosts\":[{\"host\":\"x.a.b\",\"private\":true}]}",
	    ",\"network\":{\"mode\":\"allow\",\"hosts\":[{\"host\":\"x.a.b\",\"port\":8443}]}",
	    ",\"network\":{\"mode\":\"allow\",\"hosts\":[{\"host\":\"x.a.b\",\"protocol\":\"tcp\",\"port\":443}]}" },
	  { ",\"network\":{\"mode\":\"allow\",\"hosts\":[{\"host\":\"X.A.B.\"}]}", "" } },
	{ "network.class", "", { ",\"network\":{\"class\":\"any\"}", ",\"network\":{\"class\":\"prod\"}" }, { "" } },
	{ "network.class",
	  ",\"network\":{\"class\":\"any\"}",
	  { 0 },
	  { "", ",\"network\":{\"class\":\"prod\"}", ",\"network\":{\"class\":\"any\"}" } },
	{ "limits.memory", ",\"limits\":{\"memory\":\"1G\"}",
	  { ",\"limits\":{\"memory\":\"1025M\"}", ",\"limits\":{\"memory\":\"none\"}", "" },
	  { ",\"limits\":{\"memory\":\"1M\"}" } },
	{ "limits.pids", ",\"limits\":{\"pids\":9}",
	  { ",\"limits\":{\"pids\":10}", ",\"limits\":{\"pids\":0}" }, { ",\"limits\":{\"pids\":2}" } },
	{ "limits.cpu", ",\"limits\":{\"cpu\":50}",
	  { ",\"limits\":{\"cpu\":51}", ",\"limits\":{\"cpu\":\"none\"}" }, { ",\"limits\":{\"cpu\":1}" } },
	{ "limits.disk", ",\"limits\":{\"disk\":\"1M\"}",
	  { ",\"limits\":{\"disk\":\"2M\"}", ",\"limits\":{\"disk\":0}" }, { ",\"limits\":{\"disk\":\"1000K\"}" } },
	{ "limits.time", ",\"limits\":{\"time\":9}",
	  { ",\"limits\":{\"time\":10}", "" }, { ",\"limits\":{\"time\":1}" } },
	{ "limits.time", "", { 0 }, { ",\"limits\":{\"time\":\"1d\"}" } },
	{ "limits.grace", "", { ",\"limits\":{\"grace\":6}" }, { ",\"limits\":{\"grace\":0}" } },
	{ "limits.files", ",\"limits\":{\"files\":64}",
	  { "", ",\"limits\":{\"files\":65}" }, { ",\"limits\":{\"files\":16}" } },
	{ "limits.tmp", "", { ",\"limits\":{\"tmp\":\"257M\"}" }, { ",\"limits\":{\"tmp\":\"1M\"}" } },
	{ "limits.shm", "", { ",\"limits\":{\"shm\":\"65M\"}" }, { ",\"limits\":{\"shm\":\"1M\"}" } },
	{ "seccomp.violation", ",\"seccomp\":{\"violation\":\"kill\"}", { "" }, { 0 } },
	{ "seccomp.violation", "", { 0 }, { ",\"seccomp\":{\"violation\":\"kill\"}" } },
	{ "seccomp.allow", ",\"seccomp\":{\"allow\":[\"ptrace\"]}",
	  { ",\"seccomp\":{\"allow\":[\"ptrace\",\"mount\"]}" }, { "" } },
	{ "seccomp.deny", ",\"seccomp\":{\"deny\":[\"ptrace\"]}",
	  { "", ",\"seccomp\":{\"deny\":[\"mount\"]}" }, { ",\"seccomp\":{\"deny\":[\"ptrace\",\"mount\"]}" } },
	{ "container.capabilities", ",\"container\":{\"capabilities\":[\"CAP_KILL\"]}",
	  { ",\"container\":{\"capabilities\":[\"CAP_KILL\",\"CAP_CHOWN\"]}" }, { "" } },
	{ "container.sysctls", ",\"container\":{\"sysctls\":[\"net.core.somaxconn\"]}",
	  { ",\"container\":{\"sysctls\":[\"net.core.optmem_max\"]}" }, { "" } },
	{ "container.user_namespace", ",\"container\":{\"user_namespace\":\"require\"}", { "" }, { 0 } },
	{ "container.user_namespace", "", { 0 }, { ",\"container\":{\"user_namespace\":\"require\"}" } },
	{ "container.network", "", { ",\"container\":{\"network\":\"engine\"}" }, { 0 } },
	{ "container.network", ",\"container\":{\"network\":\"engine\"}", { 0 }, { "" } },
	{ "enforce.optional", ",\"enforce\":{\"optional\":[\"cpu-limit\"]}",
	  { ",\"enforce\":{\"optional\":[\"cpu-limit\",\"pids-limit\"]}", ",\"enforce\":{\"optional\":[\"disk-limit\"]}" },
	  { "" } },
	{ "governance", ",\"governance\":{\"allow_self\":false}",
	  { "", ",\"governance\":{\"allow_self\":true}" }, { 0 } },
	{ "audit", ",\"audit\":{\"redact\":[\"a\"]}", { "" }, { 0 } },
	{ "forensics", ",\"forensics\":{\"on\":[\"oom\"]}", { "", ",\"forensics\":{\"on\":[]}" }, { 0 } },
	{ "broker", "", { ",\"broker\":{\"tools\":[\"git\"]}" }, { 0 } },
	{ "trust", ",\"trust\":{\"context_file\":\"a\"}", { "", ",\"trust\":{\"context_file\":\"b\"}" }, { 0 } },
};
/* clang-format on */

/* Compared before dangers are judged, as profile_load does it. */
static struct profile *from_body(const char *body)
{
	_cleanup_jdoc_ struct jdoc *doc = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	struct profile *p = NULL;
	char text[1024];

	snprintf(text, sizeof(text), HEAD "%s}", body);
	if (profile_document_parse(text, strlen(text), "t.json", &vars, &doc, &f) < 0 ||
	    profile_from_document(TAKE_PTR(doc), NULL, &vars, &p, &f) < 0)
		printf("# %s: %s\n", body, fault_text(&f));
	return p;
}

static void every_profile_is_as_tight_as_itself(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(relations); i++) {
		_cleanup_profile_ struct profile *a = from_body(relations[i].base),
						 *b = from_body(relations[i].base);

		CHECK(a && b && profile_is_tighter(a, b, NULL) && profile_is_tighter(a, a, NULL));
	}
}

static void loosening_one_key_is_seen_and_named(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(relations); i++) {
		_cleanup_profile_ struct profile *base = from_body(relations[i].base);

		CHECK(base);
		for (size_t j = 0; j < 4 && relations[i].looser[j]; j++) {
			_cleanup_profile_ struct profile *p = from_body(relations[i].looser[j]);
			const char *key = "none";
			bool seen = p && !profile_is_tighter(base, p, &key) && str_eq(key, relations[i].key);

			if (!seen)
				printf("# %s: '%s' -> '%s' named %s\n", relations[i].key, relations[i].base,
				       relations[i].looser[j], key);
			CHECK(seen);
		}
	}
}

static void tightening_is_allowed(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(relations); i++) {
		_cleanup_profile_ struct profile *base = from_body(relations[i].base);

		CHECK(base);
		for (size_t j = 0; j < 4 && relations[i].tighter[j]; j++) {
			_cleanup_profile_ struct profile *p = from_body(relations[i].tighter[j]);
			const char *key = "none";
			bool held = p && profile_is_tighter(base, p, &key);

			if (!held)
				printf("# '%s' -> '%s' is called looser in %s\n", relations[i].base,
				       relations[i].tighter[j], key);
			CHECK(held);
		}
	}
}

/* A row without an example here is an untested rule. */
static void every_key_with_a_rule_has_an_example_that_loosens(void)
{
	for (const struct key_row *k = profile_keys(); k->path; k++) {
		bool found = k->offset == KEY_NO_FIELD || k->order == KEY_ORDER_FREE;

		for (size_t i = 0; i < ARRAY_SIZE(relations); i++)
			found |= str_eq(relations[i].key, k->path) && relations[i].looser[0];
		if (!found)
			printf("# no example for %s\n", k->path);
		CHECK(found);
	}
}

static void free_text_does_not_affect_the_comparison(void)
{
	_cleanup_profile_ struct profile *a = from_body(""),
					 *b = from_body(
						 ",\"description\":\"d\",\"process\":{\"hostname\":\"h\"}");

	CHECK(a && b && profile_is_tighter(a, b, NULL) && profile_is_tighter(b, a, NULL));
}

TAP_MAIN(T(every_profile_is_as_tight_as_itself), T(loosening_one_key_is_seen_and_named),
	 T(tightening_is_allowed), T(every_key_with_a_rule_has_an_example_that_loosens),
	 T(free_text_does_not_affect_the_comparison))
