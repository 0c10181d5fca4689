/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/array.h"
#include "session/session-summary.h"

#include "tap.h"

static const struct digest profile_digest;

static struct session_summary sample(enum session_summary_kind kind)
{
	return (struct session_summary){ .kind = kind,
					 .session = "20261116T031500Z-1a2b3c4d",
					 .lane = "sandbox",
					 .container = "web",
					 .bundle = "/b",
					 .profile = "offline",
					 .end = { .reason = "signaled",
						  .source = "init",
						  .code = 137,
						  .signal = 9,
						  .abnormal = true,
						  .wall_ms = 12 } };
}

static bool has_keys(const struct session_summary *s, const char *const *keys, size_t n)
{
	_cleanup_jdoc_ struct jdoc *o = session_summary_to_json(s);

	for (size_t i = 0; i < n; i++)
		if (!jdoc_get(o, keys[i]))
			return false;
	return o->n_members == n;
}

static void a_run_has_every_key(void)
{
	static const char *const keys[] = { "schema_version", "session",    "lane",   "profile", "digest",
					    "verdict",	      "name",	    "agent",  "worker",	 "issue",
					    "exit",	      "abnormal",   "detail", "layers",	 "started",
					    "ended",	      "duration_ms" };
	const struct session_summary s = sample(SESSION_SUMMARY_RUN);
	_cleanup_jdoc_ struct jdoc *o = session_summary_to_json(&s);

	CHECK(has_keys(&s, keys, ARRAY_SIZE(keys)));
	CHECK(jdoc_get(o, "agent")->type == JDOC_NULL && jdoc_get(o, "started")->type == JDOC_NULL);
}

static void a_container_has_its_id_and_bundle(void)
{
	static const char *const keys[] = { "schema_version", "session", "lane",    "container",
					    "bundle",	      "profile", "verdict", "exit",
					    "abnormal",	      "started", "ended",   "duration_ms" };
	const struct session_summary s = sample(SESSION_SUMMARY_CONTAINER);
	_cleanup_jdoc_ struct jdoc *o = session_summary_to_json(&s);

	CHECK(has_keys(&s, keys, ARRAY_SIZE(keys)));
	CHECK(str_eq(jdoc_get_string(o, "container"), "web") && str_eq(jdoc_get_string(o, "bundle"), "/b"));
}

static void a_lost_run_has_known_values_only(void)
{
	static const char *const keys[] = { "schema_version", "session", "lane",    "profile",
					    "issue",	      "exit",	 "abnormal" };
	struct session_summary s = sample(SESSION_SUMMARY_LOST);

	s.issue = "7";
	CHECK(has_keys(&s, keys, ARRAY_SIZE(keys)));
}

static void exit_is_written_the_same_for_all(void)
{
	static const enum session_summary_kind kinds[] = { SESSION_SUMMARY_RUN, SESSION_SUMMARY_CONTAINER,
							   SESSION_SUMMARY_LOST };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct session_summary s = sample(kinds[i]);
		_cleanup_strbuf_ struct strbuf text = { 0 };
		_cleanup_jdoc_ struct jdoc *o = NULL;

		s.profile_digest = &profile_digest;
		o = session_summary_to_json(&s);
		CHECK(jdoc_write(o, JDOC_CANONICAL, &text, NULL) == 0);
		CHECK(strstr(
			text.text,
			"\"exit\":{\"code\":137,\"reason\":\"signaled\",\"signal\":9,\"source\":\"init\"}"));
		CHECK(strstr(text.text, "\"profile_digest\":\"sha256:0000"));
	}
}

TAP_MAIN(T(a_run_has_every_key), T(a_container_has_its_id_and_bundle), T(a_lost_run_has_known_values_only),
	 T(exit_is_written_the_same_for_all))
