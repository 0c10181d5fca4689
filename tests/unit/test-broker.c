/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "broker/broker-decide.h"
#include "broker/broker-peer.h"
#include "broker/broker-request.h"
#include "broker/broker-credential.h"
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

/* Every combination of the eight reasons to refuse: the first one in the order of the design counts. */
static void ISO_9_the_first_step_that_refuses_counts(void)
{
	char *const scope[] = { (char *)"issue_number=issue", NULL };
	/* Without a name that the call has: its parameters are not those of the declaration. */
	struct config_param param = { .name = (char *)"issue_number" };
	struct config_tool declared = { .has_params = true, .params = &param };
	struct broker_tool tool = { .name = "deploy", .declared = &declared, .level = 'B', .scope = scope };
	const struct broker_values values = { .issue = "5" };
	_cleanup_jdoc_ struct jdoc *right = jdoc_new_object(), *wrong = jdoc_new_object();

	jdoc_set_string(right, "issue_number", "5");
	jdoc_set_string(wrong, "issue_number", "6");
	for (unsigned int bad = 0; bad < 1u << BROKER_ALLOWED; bad++) {
		const bool is[] = { bad & 1,	  bad >> 1 & 1, bad >> 2 & 1, bad >> 3 & 1,
				    bad >> 4 & 1, bad >> 5 & 1, bad >> 6 & 1, bad >> 7 & 1 };
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
		struct broker_decision d;
		unsigned int first = 0;

		declared.n_params = is[BROKER_PARAMS] ? 0 : 1;
		d = broker_decide(&tools, &values, &call, &checks, &f);

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
	/* A long s, a kelvin sign, a sharp s, full width, a dotted I; and what readers of options take for the same name. */
	static const char *const doubles[] = { "Main_sink",
					       "MAIN_SINK",
					       "main_\xc5\xbfink",
					       "main_sin\xe2\x84\xaa",
					       "ma\xc3\x9f",
					       "\xef\xbc\xad"
					       "ain_sink",
					       "ma\xc4\xb0n_sink",
					       "mainSink",
					       "main-sink",
					       "main sink",
					       " main_sink",
					       "main.sink\n" };
	char *const scope[] = { (char *)"main_sink=issue", NULL };
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

		jdoc_set_int(params, "main_sink", 5);
		jdoc_set_int(params, "main_sinks", 6);
		jdoc_set_int(params, "sink", 6);
		jdoc_set_int(params, "", 6);
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

static void ISO_8_the_token_is_hidden_wherever_it_is_in_a_text(void)
{
	char token[BROKER_TOKEN_SIZE], other[BROKER_TOKEN_SIZE], text[4 * BROKER_TOKEN_SIZE],
		wanted[4 * BROKER_TOKEN_SIZE];
	static const char stars[] = "****************************************************************";
	struct digest hash, hash2;

	CHECK(broker_token_make(token, &hash, NULL) == 0 && broker_token_make(other, &hash2, NULL) == 0);
	(void)snprintf(text, sizeof(text), "x=%s;%s abc%sdef", other, token, token);
	(void)snprintf(wanted, sizeof(wanted), "x=%s;%s abc%sdef", other, stars, stars);
	broker_token_hide(&hash, text);
	CHECK(strcmp(text, wanted) == 0);
	(void)snprintf(text, sizeof(text), "%.63s", token);
	broker_token_hide(&hash, text);
	CHECK(strncmp(text, token, 63) == 0);
	broker_token_hide(&hash, token);
	CHECK(strcmp(token, stars) == 0);
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

static bool names_own_cgroup(const char *name, bool shared)
{
	const struct broker_peers_of of = { .init = getpid(), .cgroup = name, .pid_shared = shared };
	struct broker_peers p;
	const bool ok = broker_peers_init(&p, &of, NULL) == 0;

	broker_peers_done(&p);
	return ok;
}

/* This process has neither a pid namespace nor a cgroup of the test's own. */
static void ISO_8_a_session_without_a_cgroup_and_a_pid_namespace_has_no_broker(void)
{
	CHECK(!names_own_cgroup("/custody-none", false));
	CHECK(!names_own_cgroup("/custody-none", true));
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
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(resolve(DECLARED(",\"export\":true"), PROFILE("\"t\""), LANE_SANDBOX, NULL, &f) == -ENOTSUP);
	CHECK(strstr(fault_text(&f), "'t'") && strstr(fault_text(&f), "export"));
	CHECK(resolve("{}", PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == -ENOENT);
	/* A git tool without a remote of its lane could reach nothing. */
	CHECK(resolve("{}", PROFILE("\"git.push\""), LANE_SANDBOX, NULL, NULL) == -ENOENT);
	CHECK(resolve("{}", PROFILE("\"git.fetch\""), LANE_SANDBOX, NULL, NULL) == -ENOENT);
	/* A declared tool must not take the name of a built-in one. */
	CHECK(resolve("{\"broker\":{\"tools\":[{\"name\":\"ping\",\"exec\":[\"/bin/true\"],\"level\":\"A\","
		      "\"network\":\"test\"}]}}",
		      PROFILE("\"ping\""), LANE_SANDBOX, NULL, NULL) == -EEXIST);
	CHECK(resolve("{\"broker\":{\"tools\":[{\"name\":\"t\",\"exec\":[\"true\"],\"level\":\"A\","
		      "\"network\":\"test\"}]}}",
		      PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == -EINVAL);
}

static void ISO_12_a_declaration_names_credentials_by_their_variables(void)
{
	static const char *const bad[] = { DECLARED(",\"credentials\":[\"gh\"]"),
					   DECLARED(",\"credentials\":[\"A=\"]"),
					   DECLARED(",\"credentials\":[\"A=.gh\"]"),
					   DECLARED(",\"credentials\":[\"A=g/h\"]"),
					   DECLARED(",\"credentials\":[\"1A=gh\"]"),
					   DECLARED(",\"credentials\":[\"PATH=gh\"]"),
					   DECLARED(",\"credentials\":[\"CUSTODY_TOOL=gh\"]"),
					   DECLARED(",\"credentials\":[\"A=gh\",\"A=gl\"]"),
					   DECLARED(",\"credentials\":[\"A=gh\"],\"env\":[\"A\"]"),
					   DECLARED(",\"credentials\":{\"A\":\"gh\"}") };
	static const char good[] =
		DECLARED(",\"credentials\":[\"A=gh\",\"AB=gh\"],\"env\":[\"B\"],\"read\":true");
	struct broker_tool t = { .name = "t", .read = true };

	CHECK(resolve(good, PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(resolve(bad[i], PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == -EINVAL);
	CHECK(!broker_tool_is_synced(&t));
	{
		/* That of a remote counts, too, if the remote is the lane's. */
		char name[] = "gh";
		struct config_remote remote = { .name = name, .network = NETWORK_CLASS_TEST };
		const struct config c = { .remotes = &remote, .n_remotes = 1 };
		struct broker_tool fetch = {
			.builtin = BROKER_GIT_FETCH, .config = &c, .lane = LANE_SANDBOX, .read = true
		};

		CHECK(!broker_tool_is_synced(&fetch));
		remote.credential = name;
		CHECK(broker_tool_is_synced(&fetch));
		remote.network = NETWORK_CLASS_PROD;
		CHECK(!broker_tool_is_synced(&fetch));
	}
	for (int i = 0; i < BROKER_CREDENTIALS_MAX; i++)
		CHECK(broker_tool_add_credential(&t, "gh", NULL, NULL) == 0);
	CHECK(broker_tool_is_synced(&t));
	CHECK(broker_tool_add_credential(&t, "gh", NULL, NULL) == -E2BIG);
	CHECK(broker_tool_add_credential(&(struct broker_tool){ .name = "t" }, "../gh", NULL, NULL) ==
	      -EINVAL);
	broker_tool_done(&t);
}

#define REST(more, end)                                                                                   \
	"{\"broker\":{\"tools\":[{\"name\":\"t\",\"level\":\"A\",\"network\":\"test\",\"rest\":{\"url\":" \
	"\"https://a.example.org\",\"path\":\"/x/{n}\"" more "}" end "}]}}"

static void ISO_9_a_request_is_declared_in_place_of_a_program(void)
{
	static const char *const wrong[] = {
		REST("", ",\"exec\":[\"/bin/true\"]"),
		REST("", ",\"env\":[\"A\"]"),
		REST(",\"method\":\"POST\"", ",\"read\":true"),
		REST("", ",\"scope\":[\"other=issue\"]"),
		REST(",\"body\":[\"a\"]", ""),
		REST(",\"method\":\"TRACE\"", ""),
		REST(",\"headers\":[\"Authorization: x\"]", ""),
		REST(",\"hosts\":[\"example.org\"]", ""),
		REST(",\"addresses\":[\"any\"]", ""),
		REST(",\"redirects\":1", ""),
		"{\"broker\":{\"tools\":[{\"name\":\"t\",\"level\":\"A\",\"network\":\"test\"}]}}",
		"{\"broker\":{\"tools\":[{\"name\":\"t\",\"level\":\"A\",\"network\":\"test\",\"rest\":{}}]}"
		"}",
	};
	struct digest base, same, other;

	CHECK(resolve(REST("", ""), PROFILE("\"t\""), LANE_SANDBOX, &base, NULL) == 0);
	CHECK(resolve(REST(",\"method\":\"GET\",\"addresses\":[\"public\"]", ""), PROFILE("\"t\""),
		      LANE_SANDBOX, &same, NULL) == 0);
	CHECK(digest_equal(&base, &same));
	CHECK(resolve(REST(",\"query\":[\"q\"]", ""), PROFILE("\"t\""), LANE_SANDBOX, &other, NULL) == 0);
	CHECK(!digest_equal(&base, &other));
	CHECK(resolve(REST("", ""), PROFILE("\"t\""), LANE_PROD, NULL, NULL) == -LANE_REFUSED);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CHECK(resolve(wrong[i], PROFILE("\"t\""), LANE_SANDBOX, NULL, NULL) == -EINVAL);
}

static void ISO_9_a_changed_declaration_has_another_digest(void)
{
	static const char *const changes[] = { DECLARED(",\"timeout\":\"31s\""),
					       DECLARED(",\"output_max\":\"1K\""),
					       DECLARED(",\"env\":[\"A\"]"),
					       DECLARED(",\"scope\":[\"n=issue\"]"),
					       DECLARED(",\"read\":true"),
					       DECLARED(",\"inspect_allow\":[\"path.env\"]"),
					       DECLARED(",\"description\":\"x\""),
					       DECLARED(",\"params\":[]"),
					       DECLARED(",\"params\":[{\"name\":\"a\",\"type\":\"string\"}]"),
					       DECLARED(",\"credentials\":[\"A=gh\"]"),
					       DECLARED(",\"credentials\":[\"B=gh\"]"),
					       DECLARED(",\"credentials\":[\"A=gl\"]") };
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
	 T(ISO_8_the_token_is_hidden_wherever_it_is_in_a_text), T(ISO_8_only_the_token_itself_is_the_token),
	 T(ISO_8_only_one_shape_is_a_request),
	 T(ISO_8_a_session_without_a_cgroup_and_a_pid_namespace_has_no_broker),
	 T(ISO_8_a_peer_is_in_the_sessions_cgroup_or_below), T(the_client_takes_data_and_refusals_apart),
	 T(LANE_6_a_tool_of_the_other_lane_is_refused),
	 T(ISO_9_a_tool_that_custody_cannot_govern_is_refused_by_name),
	 T(ISO_12_a_declaration_names_credentials_by_their_variables),
	 T(ISO_9_a_request_is_declared_in_place_of_a_program),
	 T(ISO_9_a_changed_declaration_has_another_digest))
