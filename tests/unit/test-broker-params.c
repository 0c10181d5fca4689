/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "broker/broker-params.h"
#include "broker/broker-request.h"

#include "tap.h"

#define DECLARED(more)                                              \
	"{\"broker\":{\"tools\":[{\"name\":\"t\",\"exec\":[\"/bin/" \
	"true\"],\"level\":\"A\",\"network\":\"test\"" more "}]}}"
#define REST(path, more)                                                                                  \
	"{\"broker\":{\"tools\":[{\"name\":\"t\",\"level\":\"A\",\"network\":\"test\",\"rest\":{\"url\":" \
	"\"https://a.example.org\",\"method\":\"POST\",\"path\":\"" path                                  \
	"\",\"query\":[\"q?\",\"v=1\"],\"body\":[\"text\"]}" more "}]}}"
#define PARAMS                                                                                           \
	",\"params\":[{\"name\":\"s\",\"type\":\"string\",\"required\":true,\"max_length\":3,\"enum\":[" \
	"\"a\",\"\xc3\xa9\xc3\xa9\xc3\xa9\",\"long\"]},"                                                 \
	"{\"name\":\"n\",\"type\":\"integer\",\"description\":\"D\"},{\"name\":\"b\",\"type\":\"boolean\"}]"

struct world {
	struct config *config;
	struct profile profile;
	struct jdoc *section;
	struct broker_tools tools;
};

static void clear(struct world *w)
{
	broker_tools_done(&w->tools);
	config_free(w->config);
	jdoc_free(w->section);
}

/* NAMES: tools of the profile. */
static int make(struct world *w, const char *config, const char *names, struct fault *f)
{
	const struct config_texts texts = { .admin = config, .admin_len = strlen(config) };
	char section[256], name[] = "p";
	int r = config_parse(&texts, &w->config, f);

	(void)snprintf(section, sizeof(section), "{\"tools\":[%s]}", names);
	if (r < 0 || jdoc_parse(section, strlen(section), "profile", NULL, &w->section, NULL) < 0)
		return r < 0 ? r : -EBADMSG;
	w->profile.name = name;
	w->profile.sections[PROFILE_SECTION_BROKER] = w->section;
	return broker_tools_resolve(w->config, &w->profile, LANE_SANDBOX, &w->tools, f);
}

static int check(const char *config, const char *params)
{
	_cleanup_jdoc_ struct jdoc *d = NULL;
	_cleanup_fault_ struct fault f = { 0 };
	struct world w = { 0 };
	int r = make(&w, config, "\"t\"", &f);

	if (r == 0)
		r = jdoc_parse(params, strlen(params), "params", NULL, &d, NULL) < 0
			    ? -EBADMSG
			    : broker_params_check(&w.tools.items[0], d, &f);
	else
		printf("# %s\n", fault_text(&f));
	clear(&w);
	return r;
}

static void DOOR_6_parameters_are_held_to_the_declaration(void)
{
	static const char *const good[] = { "{\"s\":\"a\"}", "{\"s\":\"\xc3\xa9\xc3\xa9\xc3\xa9\"}",
					    "{\"s\":\"a\",\"n\":-7,\"b\":false}" };
	static const char *const bad[] = { "{}",
					   "{\"s\":7}",
					   "{\"s\":null}",
					   "{\"s\":\"c\"}",
					   "{\"s\":\"long\"}",
					   "{\"s\":\"a\",\"n\":\"7\"}",
					   "{\"s\":\"a\",\"n\":true}",
					   "{\"s\":\"a\",\"b\":1}",
					   "{\"s\":\"a\",\"b\":\"true\"}",
					   "{\"s\":\"a\",\"S\":\"a\"}",
					   "{\"s\":\"a\",\"other\":1}" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		CHECK(check(DECLARED(PARAMS), good[i]) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(check(DECLARED(PARAMS), bad[i]) == -EINVAL);
	/* Without a list the tool checks them.  An empty list: it takes no parameter. */
	CHECK(check(DECLARED(""), "{\"x\":[]}") == 0);
	CHECK(check(DECLARED(",\"params\":[]"), "{}") == 0);
	CHECK(check(DECLARED(",\"params\":[]"), "{\"x\":1}") == -EINVAL);
}

static bool is_refused(const char *config, const char *part)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct world w = { 0 };
	const bool refused = make(&w, config, "\"t\"", &f) == -EINVAL && strstr(fault_text(&f), part);

	if (!refused)
		printf("# wanted '%s', got '%s'\n", part, fault_text(&f));
	clear(&w);
	return refused;
}

static void DOOR_6_a_declaration_that_no_call_can_fit_is_refused(void)
{
#define ONE(more) "{\"name\":\"x\",\"type\":\"string\"" more "}"
	CHECK(is_refused(DECLARED(",\"params\":[" ONE("") "," ONE("") "]"), "'x' twice"));
	CHECK(is_refused(DECLARED(",\"params\":[{\"name\":\"x\",\"type\":\"integer\",\"max_length\":3}]"),
			 "for a string"));
	CHECK(is_refused(DECLARED(",\"params\":[{\"name\":\"x\",\"type\":\"boolean\",\"enum\":[\"a\"]}]"),
			 "for a string"));
	CHECK(is_refused(DECLARED(",\"params\":[" ONE("") "],\"scope\":[\"y=issue\"]"), "not in params"));
	CHECK(is_refused(DECLARED(",\"params\":[{\"name\":\"x\",\"type\":\"object\"}]"), "type"));
	CHECK(is_refused(DECLARED(",\"params\":[{\"name\":\"x\"}]"), "type"));
	CHECK(is_refused(DECLARED(",\"params\":{}"), "params"));
	/* A request has its own places. */
	CHECK(is_refused(REST("/a", ",\"params\":[" ONE("") "]"), "not in params"));
	CHECK(is_refused(
		REST("/{x}",
		     ",\"params\":[" ONE("") ",{\"name\":\"q\",\"type\":\"string\"},"
					     "{\"name\":\"text\",\"type\":\"string\",\"required\":true}]"),
		"rest needs it"));
	CHECK(is_refused(
		REST("/{x}",
		     ",\"params\":[" ONE(",\"required\":true") ",{\"name\":\"q\",\"type\":\"string\"},"
							       "{\"name\":\"text\",\"type\":\"string\","
							       "\"required\":true},"
							       "{\"name\":\"more\",\"type\":\"string\"}]"),
		"does not use"));
	CHECK(check(REST("/{x}",
			 ",\"params\":[" ONE(",\"required\":true") ",{\"name\":\"q\",\"type\":\"string\"},"
								   "{\"name\":\"text\",\"type\":\"string\","
								   "\"required\":true}]"),
		    "{\"x\":\"1\",\"text\":\"\"}") == 0);
}

static bool schema_is(const char *config, const char *names, size_t i, const char *want)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	_cleanup_jdoc_ struct jdoc *list = NULL;
	struct world w = { 0 };
	bool same = make(&w, config, names, NULL) == 0;

	list = broker_tools_list(&w.tools);
	same = same && jdoc_write(list->items[i], JDOC_CANONICAL, &text, NULL) == 0 &&
	       strstr(text.text, want);
	if (!same)
		printf("# wanted %s in %s\n", want, text.text ? text.text : "nothing");
	clear(&w);
	return same;
}

static void DOOR_6_the_list_has_a_schema_of_each_tool(void)
{
	CHECK(schema_is("{}", "\"ping\",\"note.write\"", 0,
			"\"params\":{\"type\":\"object\"},\"read\":true"));
	CHECK(schema_is("{}", "\"ping\",\"note.write\"", 1,
			"\"mcp\":\"note_write\",\"name\":\"note.write\",\"params\":{\"additionalProperties\":"
			"false,\"properties\":{"
			"\"text\":{\"description\":\"The "
			"note.\",\"maxLength\":8192,\"type\":\"string\"}},\"required\":[\"text\"],"
			"\"type\":\"object\"},\"read\":false"));
	CHECK(schema_is("{}", "\"git.diff\"", 0, "\"staged\":{\"description\""));
	CHECK(schema_is(DECLARED(PARAMS), "\"t\"", 0,
			"\"params\":{\"additionalProperties\":false,\"properties\":{\"b\":{\"type\":"
			"\"boolean\"},\"n\":{"
			"\"description\":\"D\",\"type\":\"integer\"},\"s\":{\"enum\":[\"a\","
			"\"\xc3\xa9\xc3\xa9\xc3\xa9\",\"long\"],"
			"\"maxLength\":3,\"type\":\"string\"}},\"required\":[\"s\"],\"type\":\"object\"}"));
	/* Without a list of parameters: those of the scope, whose values are not told. */
	CHECK(schema_is(DECLARED(",\"scope\":[\"id=issue\"]"), "\"t\"", 0,
			"\"params\":{\"properties\":{\"id\":{\"description\":\"Must be the session's "
			"issue.\"}},\"required\":["
			"\"id\"],\"type\":\"object\"}"));
	CHECK(schema_is(REST("/{x}/{x}", ""), "\"t\"", 0,
			"\"params\":{\"additionalProperties\":false,\"properties\":{\"q\":{\"type\":"
			"\"string\"},\"text\":{},\"x\":{"
			"\"type\":\"string\"}},\"required\":[\"x\",\"text\"],\"type\":\"object\"}"));
}

static void DOOR_6_the_description_says_that_a_call_needs_an_approval(void)
{
	static const char config[] =
		"{\"broker\":{\"tools\":[{\"name\":\"t\",\"exec\":[\"/bin/true\"],\"level\":\"C\","
		"\"network\":\"test\",\"description\":\"Deploys.\"}]}}";

	CHECK(schema_is(config, "\"t\"", 0,
			"\"description\":\"Deploys. Each call needs an approval (level C)"));
}

static void DOOR_6_two_tools_with_one_name_for_MCP_are_refused_by_name(void)
{
	static const char config[] =
		"{\"broker\":{\"tools\":[{\"name\":\"git_diff\",\"exec\":[\"/bin/true\"],\"level\":\"A\","
		"\"network\":\"test\"}]}}";
	_cleanup_fault_ struct fault f = { 0 };
	struct world w = { 0 };

	CHECK(make(&w, config, "\"git.diff\",\"git_diff\"", &f) == -EEXIST);
	CHECK(strstr(fault_text(&f), "'git.diff' and 'git_diff'"));
	clear(&w);
}

static void DOOR_6_a_request_for_the_list_has_nothing_of_a_call(void)
{
	static const char good[] = "{\"token\":\"t\",\"list\":\"tools\"}";
	static const char *const bad[] = { "{\"token\":\"t\",\"list\":\"other\"}",
					   "{\"token\":\"t\",\"list\":true}",
					   "{\"token\":\"t\",\"list\":\"tools\",\"tool\":\"ping\"}",
					   "{\"token\":\"t\",\"list\":\"tools\",\"params\":{}}" };
	_cleanup_broker_request_ struct broker_request q = { 0 };

	CHECK(broker_request_parse(good, strlen(good), &q, NULL) == 0 && q.list && !q.tool);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct broker_request other = { 0 };

		CHECK(broker_request_parse(bad[i], strlen(bad[i]), &other, NULL) == -EINVAL);
	}
}

TAP_MAIN(T(DOOR_6_parameters_are_held_to_the_declaration),
	 T(DOOR_6_a_declaration_that_no_call_can_fit_is_refused),
	 T(DOOR_6_the_list_has_a_schema_of_each_tool),
	 T(DOOR_6_the_description_says_that_a_call_needs_an_approval),
	 T(DOOR_6_two_tools_with_one_name_for_MCP_are_refused_by_name),
	 T(DOOR_6_a_request_for_the_list_has_nothing_of_a_call))
