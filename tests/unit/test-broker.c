/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "broker/broker-decide.h"
#include "broker/broker-peer.h"
#include "broker/broker-request.h"
#include "broker/broker-token.h"
#include "call/call-reply.h"

#include "profile-fixture.h"
#include "tap.h"

static int refuse(void *arg, const struct broker_tool *t, const struct jdoc *params, struct fault *f)
{
	(void)t;
	(void)params;
	(*(unsigned int *)arg)++;
	return fault_set(f, EPERM, "no");
}

static int allow(void *arg, const struct broker_tool *t, const struct jdoc *params, struct fault *f)
{
	(void)t;
	(void)params;
	(void)f;
	(*(unsigned int *)arg)++;
	return 0;
}

/* Every combination of the seven reasons to refuse: the first one in the order of the design counts. */
static void ISO_9_the_first_step_that_refuses_counts(void)
{
	char *const scope[] = { (char *)"issue_number=issue", NULL };
	struct broker_tool tool = { .name = "deploy", .level = 'B', .scope = scope };
	const struct broker_values values = { .issue = "5" };
	_cleanup_jdoc_ struct jdoc *right = jdoc_new_object(), *wrong = jdoc_new_object();

	jdoc_set_int(right, "issue_number", 5);
	jdoc_set_string(wrong, "issue_number", "6");
	for (unsigned int bad = 0; bad < 1u << BROKER_ALLOWED; bad++) {
		const bool is[] = { bad & 1,	  bad >> 1 & 1, bad >> 2 & 1, bad >> 3 & 1,
				    bad >> 4 & 1, bad >> 5 & 1, bad >> 6 & 1 };
		const struct broker_tools tools = { .items = &tool,
						    .n = 1,
						    .calls_max = is[BROKER_BUDGET] ? 3 : 4 };
		const struct broker_call call = { .peer = !is[BROKER_PEER],
						  .token = !is[BROKER_TOKEN],
						  .tool = is[BROKER_TOOL] ? "other" : "deploy",
						  .params = is[BROKER_SCOPE] ? wrong : right,
						  .calls = 3 };
		unsigned int asked = 0;
		const struct broker_checks checks = { .inspect = is[BROKER_INSPECTION] ? refuse : allow,
						      .approve = is[BROKER_APPROVAL] ? refuse : allow,
						      .arg = &asked };
		_cleanup_fault_ struct fault f = { 0 };
		const struct broker_decision d = broker_decide(&tools, &values, &call, &checks, &f);
		unsigned int first = 0;

		while (first < BROKER_ALLOWED && !is[first])
			first++;
		CHECK(d.step == (enum broker_step)first);
		CHECK(d.counted == (first > BROKER_BUDGET));
		CHECK((f.code != 0) == (first < BROKER_ALLOWED));
		/* A later check is not even made. */
		CHECK(asked == (first < BROKER_INSPECTION ? 0u : first == BROKER_INSPECTION ? 1u : 2u));
	}
}

static enum broker_step scoped(const char *issue, struct jdoc *value)
{
	char *const scope[] = { (char *)"n=issue", NULL };
	struct broker_tool tool = { .name = "x", .level = 'A', .scope = scope };
	const struct broker_tools tools = { .items = &tool, .n = 1, .calls_max = 1 };
	const struct broker_values values = { .issue = issue };
	_cleanup_jdoc_ struct jdoc *params = jdoc_new_object();
	const struct broker_call call = { .peer = true, .token = true, .tool = "x", .params = params };
	const struct broker_checks none = { 0 };

	if (value)
		jdoc_set(params, "n", value);
	return broker_decide(&tools, &values, &call, &none, NULL).step;
}

static void ISO_9_a_parameter_of_the_scope_must_be_there_and_equal(void)
{
	CHECK(scoped("5", jdoc_new_int(5)) == BROKER_ALLOWED);
	CHECK(scoped("5", jdoc_new_string("5")) == BROKER_ALLOWED);
	CHECK(scoped("5", NULL) == BROKER_SCOPE);
	CHECK(scoped("5", jdoc_new_string("05")) == BROKER_SCOPE);
	CHECK(scoped("5", jdoc_new_string("5 ")) == BROKER_SCOPE);
	CHECK(scoped("5", jdoc_new_int(55)) == BROKER_SCOPE);
	CHECK(scoped("5", jdoc_new_null()) == BROKER_SCOPE);
	CHECK(scoped("5", jdoc_new_array()) == BROKER_SCOPE);
	CHECK(scoped("true", jdoc_new_bool(true)) == BROKER_SCOPE);
	/* A session without the value: nothing is equal to it. */
	CHECK(scoped(NULL, jdoc_new_string("5")) == BROKER_SCOPE);
	CHECK(scoped(NULL, NULL) == BROKER_SCOPE);
}

/* A parser that ignores case takes both for one, and the later one counts. */
static void ISO_9_a_parameter_of_the_scope_has_one_spelling(void)
{
	static const char *const doubles[] = { "Sink", "SINK", "\xc5\xbfink", "sin\xe2\x84\xaa" };
	char *const scope[] = { (char *)"sink=issue", NULL };
	struct broker_tool tool = { .name = "x", .level = 'A', .scope = scope };
	const struct broker_tools tools = { .items = &tool, .n = 1, .calls_max = 1 };
	const struct broker_values values = { .issue = "5" };

	for (size_t i = 0; i <= ARRAY_SIZE(doubles); i++) {
		_cleanup_jdoc_ struct jdoc *params = jdoc_new_object();
		const struct broker_call call = {
			.peer = true, .token = true, .tool = "x", .params = params
		};
		const struct broker_checks none = { 0 };
		_cleanup_fault_ struct fault f = { 0 };

		jdoc_set_int(params, "sink", 5);
		jdoc_set_int(params, "sinks", 6);
		jdoc_set_int(params, "\xc3\xa4", 6);
		if (i < ARRAY_SIZE(doubles))
			jdoc_set_int(params, doubles[i], 6);
		CHECK(broker_decide(&tools, &values, &call, &none, &f).step ==
		      (i < ARRAY_SIZE(doubles) ? BROKER_SCOPE : BROKER_ALLOWED));
	}
}

static void ISO_9_levels_above_A_need_an_approval(void)
{
	struct broker_tool tool = { .name = "x", .level = 'C' };
	const struct broker_tools tools = { .items = &tool, .n = 1, .calls_max = 1 };
	const struct broker_values values = { 0 };
	_cleanup_jdoc_ struct jdoc *params = jdoc_new_object();
	const struct broker_call call = { .peer = true, .token = true, .tool = "x", .params = params };
	const struct broker_checks none = { 0 };

	CHECK(broker_decide(&tools, &values, &call, &none, NULL).step == BROKER_APPROVAL);
	tool.level = 0;
	CHECK(broker_decide(&tools, &values, &call, &none, NULL).step == BROKER_APPROVAL);
	tool.level = 'A';
	CHECK(broker_decide(&tools, &values, &call, &none, NULL).step == BROKER_ALLOWED);
}

static void ISO_8_only_the_token_itself_is_the_token(void)
{
	char token[BROKER_TOKEN_SIZE], other[BROKER_TOKEN_SIZE], longer[BROKER_TOKEN_SIZE + 1];
	struct digest hash, hash2, none = { 0 };

	CHECK(broker_token_make(token, &hash, NULL) == 0 && broker_token_make(other, &hash2, NULL) == 0);
	CHECK(strlen(token) == 64 && strcmp(token, other) != 0);
	CHECK(broker_token_is(&hash, token) && !broker_token_is(&hash, other));
	CHECK(!broker_token_is(&hash, NULL) && !broker_token_is(&hash, "") && !broker_token_is(&none, NULL));
	(void)snprintf(longer, sizeof(longer), "%sx", token);
	CHECK(!broker_token_is(&hash, longer));
	token[63] ^= 1;
	CHECK(!broker_token_is(&hash, token));
}

static int parse_request(const char *text, size_t len)
{
	_cleanup_broker_request_ struct broker_request q = { 0 };

	return broker_request_parse(text, len, &q, NULL);
}

static void ISO_8_only_one_shape_is_a_request(void)
{
	static const char *const good[] = {
		"{\"token\":\"a\",\"tool\":\"b\"}",
		" {\"params\":{\"c\":[1,2]},\"tool\":\"b\",\"token\":\"a\"} ",
		"{\"token\":1,\"tool\":[]}", /* the token is wrong, which is a later step */
	};
	static const char *const bad[] = {
		"",
		"[]",
		"1",
		"{\"token\":\"a\",\"tool\":\"b\"",
		"{\"token\":\"a\",\"tool\":\"b\"}{}",
		"{\"token\":\"a\",\"tool\":\"b\",\"tool\":\"c\"}",
		"{\"token\":\"a\",\"tool\":\"b\",\"params\":{\"x\":1,\"x\":2}}",
		"{\"token\":\"a\",\"tool\":\"b\",\"params\":[]}",
		"{\"token\":\"a\",\"tool\":\"b\",\"more\":1}",
		"{\"token\":\"a\",\"tool\":\"b\\u0000\"}",
		"{\"token\":\"a\",\"tool\":\"\xff\"}",
		"{\"token\":\"a\",\"tool\":\"\xed\xa0\x80\"}",
		"{\"token\":\"a\",\"tool\":\"b\",\"params\":{\"x\":1.5}}",
		"{/**/\"token\":\"a\",\"tool\":\"b\"}",
	};
	_cleanup_strbuf_ struct strbuf deep = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK(parse_request(good[i], strlen(good[i])) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(parse_request(bad[i], strlen(bad[i])) < 0);
	CHECK(parse_request("{\"tool\":\"a\0b\"}", 14) < 0);
	strbuf_puts(&deep, "{\"params\":");
	for (int i = 0; i < 20; i++)
		strbuf_puts(&deep, "{\"a\":");
	strbuf_puts(&deep, "1");
	for (int i = 0; i < 21; i++)
		strbuf_puts(&deep, "}");
	CHECK(!deep.broken && parse_request(deep.text, deep.len) < 0);
}

static void ISO_8_a_peer_is_in_the_sessions_cgroup_or_below(void)
{
	char *const v2[] = { (char *)"0::/a/custody-1", NULL };
	char *const both[] = { (char *)"4:memory:/custody-1", (char *)"0::/a/custody-1", NULL };

	CHECK(broker_peer_has_cgroup(v2, "4:memory:/x\n0::/a/custody-1\n"));
	CHECK(broker_peer_has_cgroup(v2, "0::/a/custody-1/below\n"));
	CHECK(broker_peer_has_cgroup(v2, "0::/a/custody-1"));
	CHECK(!broker_peer_has_cgroup(v2, "0::/a/custody-12\n"));
	CHECK(!broker_peer_has_cgroup(v2, "0::/a\n") && !broker_peer_has_cgroup(v2, ""));
	CHECK(!broker_peer_has_cgroup(v2, "10::/a/custody-1\n"));
	CHECK(!broker_peer_has_cgroup(v2, "1:name=0::/a/custody-1:/\n"));
	CHECK(broker_peer_has_cgroup(both, "4:memory:/custody-1\n0::/a/custody-1\n"));
	CHECK(!broker_peer_has_cgroup(both, "4:memory:/\n0::/a/custody-1\n"));
	CHECK(broker_peer_is_below(getpid(), 0, 0) == false);
}

static void collect(void *arg, const char *bytes, size_t len)
{
	strbuf_add(arg, bytes, len);
}

static void the_client_takes_data_and_refusals_apart(void)
{
	static const char text[] = "{\"ok\":true,\"data\":{\"a\":\"}\"}}\n";
	const char *error, *code;

	for (size_t step = 1; step < sizeof(text); step++) {
		_cleanup_strbuf_ struct strbuf got = { 0 };
		struct call_reply r = { .put = collect, .arg = &got };

		for (size_t at = 0; at < sizeof(text) - 1; at += step)
			call_reply_feed(&r, text + at,
					sizeof(text) - 1 - at < step ? sizeof(text) - 1 - at : step);
		CHECK(r.done && !r.bad && str_eq(got.text, "{\"a\":\"}\"}"));
	}
	{
		struct call_reply r = { 0 };
		static const char no[] = "{\"ok\":false,\"error\":\"a \\\"b\\\"\",\"code\":\"scope\"}\n";

		call_reply_feed(&r, no, sizeof(no) - 1);
		CHECK(call_reply_refusal(&r, &error, &code) && str_eq(error, "a \"b\"") &&
		      str_eq(code, "scope"));
	}
	{
		struct call_reply r = { 0 };

		call_reply_feed(&r, "{\"ok\":false}\n", 13);
		CHECK(!call_reply_refusal(&r, &error, &code));
	}
}

#define DECLARED(more)                                                                                  \
	"{\"broker\":{\"tools\":[{\"name\":\"t\",\"exec\":[\"/bin/true\"],\"level\":\"B\",\"network\":" \
	"\"test\"" more "}]}}"
#define PROFILE(tools) "{\"schema\":1,\"name\":\"p\",\"broker\":{\"tools\":[" tools "]}}"

static int resolve(const char *config, const char *profile, enum lane lane, struct digest *ret_digest,
		   struct fault *f)
{
	const struct config_texts texts = { .admin = config, .admin_len = strlen(config) };
	_cleanup_config_ struct config *c = NULL;
	_cleanup_profile_ struct profile *p = NULL;
	_cleanup_broker_tools_ struct broker_tools t = { 0 };
	int r = config_parse(&texts, &c, f);

	if (r == 0)
		r = parse(profile, &p, f);
	if (r == 0)
		r = broker_tools_resolve(c, p, lane, &t, f);
	if (r == 0 && ret_digest)
		*ret_digest = t.items[0].digest;
	return r;
}

static void LANE_6_a_tool_of_the_other_lane_is_refused(void)
{
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(resolve(DECLARED(""), PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == 0);
	CHECK(resolve(DECLARED(""), PROFILE("\"t\""), LANE_PROD, NULL, &f) == -LANE_REFUSED);
	CHECK(strstr(fault_text(&f), "test") && strstr(fault_text(&f), "prod"));
	/* Unstamped. */
	CHECK(resolve("{\"broker\":{\"tools\":[{\"name\":\"t\",\"exec\":[\"/bin/true\"],\"level\":\"A\"}]}}",
		      PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == -EINVAL);
}

static void ISO_9_a_tool_that_custody_cannot_govern_is_refused_by_name(void)
{
	static const char *const reserved[] = { "\"git.push\"", "\"git.fetch\"", "\"git.diff\"", "\"rest\"" };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(resolve(DECLARED(",\"export\":true"), PROFILE("\"t\""), LANE_SANDBOX, NULL, &f) == -ENOTSUP);
	CHECK(strstr(fault_text(&f), "'t'") && strstr(fault_text(&f), "export"));
	CHECK(resolve("{}", PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		_cleanup_free_ char *profile = NULL;

		CHECK(asprintf(&profile, "{\"schema\":1,\"name\":\"p\",\"broker\":{\"tools\":[%s]}}",
			       reserved[i]) > 0);
		CHECK(resolve("{}", profile, LANE_SANDBOX, NULL, NULL) == -ENOTSUP);
	}
	/* A declared tool must not take the name of a built-in one. */
	CHECK(resolve("{\"broker\":{\"tools\":[{\"name\":\"ping\",\"exec\":[\"/bin/true\"],\"level\":\"A\","
		      "\"network\":\"test\"}]}}",
		      PROFILE("\"ping\""), LANE_SANDBOX, NULL, NULL) == -EEXIST);
	CHECK(resolve("{\"broker\":{\"tools\":[{\"name\":\"t\",\"exec\":[\"true\"],\"level\":\"A\","
		      "\"network\":\"test\"}]}}",
		      PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == -EINVAL);
}

static void ISO_9_a_changed_declaration_has_another_digest(void)
{
	static const char *const changes[] = {
		DECLARED(",\"timeout\":\"31s\""), DECLARED(",\"output_max\":\"1K\""),
		DECLARED(",\"env\":[\"A\"]"), DECLARED(",\"scope\":[\"n=issue\"]"), DECLARED(",\"read\":true")
	};
	struct digest base, same, other;

	CHECK(resolve(DECLARED(""), PROFILE("\"t\""), LANE_SANDBOX, &base, NULL) == 0);
	CHECK(resolve(DECLARED(",\"timeout\":\"30s\",\"read\":false"), PROFILE("\"t\""), LANE_SANDBOX, &same,
		      NULL) == 0);
	CHECK(digest_equal(&base, &same));
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		CHECK(resolve(changes[i], PROFILE("\"t\""), LANE_SANDBOX, &other, NULL) == 0);
		CHECK(!digest_equal(&base, &other));
	}
}

TAP_MAIN(T(ISO_9_the_first_step_that_refuses_counts),
	 T(ISO_9_a_parameter_of_the_scope_must_be_there_and_equal),
	 T(ISO_9_a_parameter_of_the_scope_has_one_spelling), T(ISO_9_levels_above_A_need_an_approval),
	 T(ISO_8_only_the_token_itself_is_the_token), T(ISO_8_only_one_shape_is_a_request),
	 T(ISO_8_a_peer_is_in_the_sessions_cgroup_or_below), T(the_client_takes_data_and_refusals_apart),
	 T(LANE_6_a_tool_of_the_other_lane_is_refused),
	 T(ISO_9_a_tool_that_custody_cannot_govern_is_refused_by_name),
	 T(ISO_9_a_changed_declaration_has_another_digest))
