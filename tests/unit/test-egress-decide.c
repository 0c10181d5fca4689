/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/str.h"
#include "egress/egress-decide.h"
#include "egress/egress.h"
#include "tap.h"

static struct host_rule rules[] = {
	{ (char[]){ "api.example.org" }, 443, HOST_PROTOCOL_TLS, false },
	{ (char[]){ "plain.example.org" }, 80, HOST_PROTOCOL_HTTP, false },
	{ (char[]){ "*.example.org" }, 8443, HOST_PROTOCOL_TLS, false },
	{ (char[]){ "*.cdn.example.org" }, 8443, HOST_PROTOCOL_TCP, true },
	{ (char[]){ "*.cloudflare-dns.com" }, 443, HOST_PROTOCOL_TLS, false },
	{ (char[]){ "dns.google" }, 443, HOST_PROTOCOL_TLS, false },
};

static enum egress_verdict decide(const char *name, uint16_t port, unsigned int protocol,
				  const struct host_rule **rule)
{
	const struct egress_question q = { .name = name, .port = port, .protocol = protocol };

	return egress_decide(rules, ARRAY_SIZE(rules), &q, rule);
}

static void DOOR_3_only_name_port_and_protocol_of_a_rule_are_allowed(void)
{
	const struct host_rule *r;

	CHECK(decide("api.example.org", 443, EGRESS_ANY_PROTOCOL, &r) == EGRESS_ALLOWED && r == &rules[0]);
	CHECK(decide("api.example.org", 0, EGRESS_ANY_PROTOCOL, &r) == EGRESS_ALLOWED);
	CHECK(decide("api.example.org", 8443, EGRESS_ANY_PROTOCOL, &r) == EGRESS_ALLOWED && r == &rules[2]);
	CHECK(decide("api.example.org", 80, EGRESS_ANY_PROTOCOL, &r) == EGRESS_OTHER_PORT);
	CHECK(decide("api.example.org", 443, HOST_PROTOCOL_HTTP, &r) == EGRESS_OTHER_PROTOCOL);
	CHECK(decide("plain.example.org", 80, HOST_PROTOCOL_HTTP, &r) == EGRESS_ALLOWED);
	CHECK(decide("example.org", 8443, EGRESS_ANY_PROTOCOL, &r) == EGRESS_NO_RULE && !r);
	CHECK(decide("badexample.org", 443, EGRESS_ANY_PROTOCOL, &r) == EGRESS_NO_RULE);
}

static void the_longest_name_decides(void)
{
	const struct host_rule *r;

	CHECK(decide("a.cdn.example.org", 8443, HOST_PROTOCOL_HTTP, &r) == EGRESS_ALLOWED && r == &rules[3]);
	CHECK(decide("a.example.org", 8443, HOST_PROTOCOL_HTTP, &r) == EGRESS_OTHER_PROTOCOL &&
	      r == &rules[2]);
}

static void DOOR_4_a_wildcard_allows_no_public_resolver(void)
{
	const struct host_rule *r;

	CHECK(decide("mozilla.cloudflare-dns.com", 443, EGRESS_ANY_PROTOCOL, &r) == EGRESS_RESOLVER);
	CHECK(decide("mozilla.cloudflare-dns.com", 0, EGRESS_ANY_PROTOCOL, &r) == EGRESS_RESOLVER);
	CHECK(decide("dns.google", 443, EGRESS_ANY_PROTOCOL, &r) == EGRESS_ALLOWED);
}

static bool fits(bool is_private, const char *address)
{
	const struct host_rule r = { .is_private = is_private };
	struct sockaddr_in a = { .sin_family = AF_INET };
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, address, &a.sin_addr) == 1)
		return egress_address_fits(&r, (const struct sockaddr *)&a, sizeof(a));
	return inet_pton(AF_INET6, address, &a6.sin6_addr) == 1 &&
	       egress_address_fits(&r, (const struct sockaddr *)&a6, sizeof(a6));
}

static void DOOR_5_addresses_are_public_or_named_by_the_rule(void)
{
	static const char *const inner[] = { "10.1.2.3", "127.0.0.1", "192.168.1.1",	"100.64.0.1",
					     "::1",	 "fd00::1",   "::ffff:10.1.2.3" };
	static const char *const never[] = {
		"169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255",
		"fe80::1",	   "::",      "ff02::1",   "::ffff:169.254.169.254"
	};

	CHECK(fits(false, "45.33.32.10") && fits(false, "2a00:1450::1"));
	for (size_t i = 0; i < ARRAY_SIZE(inner); i++)
		CHECK(!fits(false, inner[i]) && fits(true, inner[i]));
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		CHECK(!fits(false, never[i]) && !fits(true, never[i]));
}

static void the_rules_reach_the_program_as_they_are(void)
{
	const struct egress_job job = { .profile = "agent", .rules = rules, .n_rules = ARRAY_SIZE(rules) };
	struct egress_config c = { 0 };
	_cleanup_close_ int fd = -EBADF;

	CHECK(egress_config_write(&job, &fd, NULL) == 0);
	CHECK(egress_config_read(fd, &c, NULL) == 0 && c.n_rules == ARRAY_SIZE(rules) &&
	      str_eq(c.profile, "agent"));
	for (size_t i = 0; i < c.n_rules; i++)
		CHECK(str_eq(c.rules[i].host, rules[i].host) && c.rules[i].port == rules[i].port &&
		      c.rules[i].protocol == rules[i].protocol &&
		      c.rules[i].is_private == rules[i].is_private);
	egress_config_done(&c);
}

TAP_MAIN(T(DOOR_3_only_name_port_and_protocol_of_a_rule_are_allowed), T(the_longest_name_decides),
	 T(DOOR_4_a_wildcard_allows_no_public_resolver), T(DOOR_5_addresses_are_public_or_named_by_the_rule),
	 T(the_rules_reach_the_program_as_they_are))
