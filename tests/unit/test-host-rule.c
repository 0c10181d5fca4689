/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/str.h"
#include "profile/host-rule.h"
#include "tap.h"

static struct host_rule rule(const char *text)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct host_rule r = { 0 };

	if (host_rule_parse(text, &r, &f) < 0)
		printf("# %s: %s\n", text, fault_text(&f));
	return r;
}

static bool matches(const char *pattern, const char *name)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	struct host_rule r;
	bool found;

	strbuf_printf(&text, "%s:443 tls", pattern);
	r = rule(text.text);
	found = r.host && host_rule_matches(&r, name);
	free(r.host);
	return found;
}

/* clang-format off */
static const struct { const char *pattern, *name; bool expected; } names[] = {
	{ "api.example.org", "api.example.org", true },
	{ "api.example.org", "x.api.example.org", false },
	{ "api.example.org", "api.example.org.evil.test", false },
	{ "api.example.org", "xapi.example.org", false },
	{ "API.Example.ORG.", "api.example.org", true },
	{ "*.example.org", "a.example.org", true },
	{ "*.example.org", "a.b.example.org", true },
	{ "*.example.org", "example.org", false },
	{ "*.example.org", "badexample.org", false },
	{ "**.example.org", "example.org", true },
	{ "**.example.org", "a.example.org", true },
	{ "**.example.org", "badexample.org", false },
	{ "*", "anything.test", true },
};
static const struct { const char *base, *r; bool expected; } covers[] = {
	{ "a.b.c:443 tls", "a.b.c:443 tls", true },
	{ "a.b.c:443 tls", "a.b.c:444 tls", false },
	{ "a.b.c:443 tls", "a.b.c:443 http", false },
	{ "a.b.c:443 tcp", "a.b.c:443 tls", true },
	{ "a.b.c:443 tls", "a.b.c:443 tcp", false },
	{ "a.b.c:443 tls", "a.b.c:443 tls private", false },
	{ "a.b.c:443 tls private", "a.b.c:443 tls", true },
	{ "*.b.c:443 tls", "a.b.c:443 tls", true },
	{ "*.b.c:443 tls", "*.a.b.c:443 tls", true },
	{ "*.b.c:443 tls", "b.c:443 tls", false },
	{ "*.b.c:443 tls", "**.b.c:443 tls", false },
	{ "**.b.c:443 tls", "*.b.c:443 tls", true },
	{ "a.b.c:443 tls", "*.b.c:443 tls", false },
	{ "*.b.c:443 tls", "*:443 tls", false },
	{ "*:443 tls", "*.b.c:443 tls", true },
};
static const char *const refused[] = {
	"127.0.0.1:443 tls", "0x7f.1:443 tls", "2130706433:443 tls", "::1:443 tls", "a..b:443 tls", "a.*.b:443 tls", "a*.b:443 tls",
	"***.b.c:443 tls", "b\xc3\xbc" "cher.test:443 tls", "a.b:53 tcp", "a.b:3128 http", "a.b:0 tcp", "a.b:65536 tls", "a.b:443 udp",
	"a.b:443", "a.b tls", "a.b:443 tls secret", "a.b:443 tlsprivate", "-a.b:443 tls", " a.b:443 tls",
};
/* clang-format on */

static void names_match_by_whole_labels(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(matches(names[i].pattern, names[i].name) == names[i].expected);
}

static void a_rule_covers_only_narrower_rules(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(covers); i++) {
		struct host_rule base = rule(covers[i].base), r = rule(covers[i].r);

		CHECK(base.host && r.host && host_rule_covers(&base, &r) == covers[i].expected);
		free(base.host);
		free(r.host);
	}
}

static void addresses_and_other_spellings_are_refused(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		_cleanup_fault_ struct fault f = { 0 };
		struct host_rule r = { 0 };

		CHECK(host_rule_parse(refused[i], &r, &f) < 0 && !r.host);
	}
}

static void the_text_of_a_rule_is_read_back(void)
{
	static const char *const texts[] = { "a.b:443 tls", "*.a.b:80 http", "**.a.b:22 tcp private",
					     "*:443 tls" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct host_rule r = rule(texts[i]);
		_cleanup_free_ char *again = r.host ? host_rule_text(&r) : NULL;

		CHECK(str_eq(texts[i], again));
		free(r.host);
	}
}

static void usual_ports_and_wide_patterns(void)
{
	struct host_rule tls = { .host = strdup("a.b") },
			 http = { .host = strdup("*.com"), .protocol = HOST_PROTOCOL_HTTP },
			 tcp = { .host = strdup("a.b"), .protocol = HOST_PROTOCOL_TCP };

	CHECK(host_rule_complete(&tls, NULL) == 0 && tls.port == 443);
	CHECK(host_rule_complete(&http, NULL) == 0 && http.port == 80);
	CHECK(host_rule_complete(&tcp, NULL) < 0);
	CHECK(!host_rule_is_wide(&tls) && host_rule_is_wide(&http));
	free(tls.host);
	free(http.host);
	free(tcp.host);
}

static void contradicting_rules_and_too_many_ports_are_refused(void)
{
	struct host_rule rules[HOST_RULE_PORTS_MAX + 1] = { 0 };
	uint16_t ports[HOST_RULE_PORTS_MAX];
	char name[] = "a.b";

	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++)
		rules[i] = (struct host_rule){ .host = name, .port = 9000 - i };
	CHECK(host_rules_require(rules, HOST_RULE_PORTS_MAX, NULL) == 0);
	CHECK(host_rules_require(rules, HOST_RULE_PORTS_MAX + 1, NULL) < 0);
	CHECK(host_rules_ports(rules, 3, ports) == 3 && ports[0] == 8998 && ports[2] == 9000);
	rules[1] = (struct host_rule){ .host = name, .port = 9000, .protocol = HOST_PROTOCOL_TCP };
	CHECK(host_rules_require(rules, 2, NULL) < 0);
}

TAP_MAIN(T(names_match_by_whole_labels), T(a_rule_covers_only_narrower_rules),
	 T(addresses_and_other_spellings_are_refused), T(the_text_of_a_rule_is_read_back),
	 T(usual_ports_and_wide_patterns), T(contradicting_rules_and_too_many_ports_are_refused))
