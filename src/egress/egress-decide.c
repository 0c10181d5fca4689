/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "egress/egress-decide.h"

#include <string.h>

#include "base/array.h"
#include "base/net-address.h"
#include "base/str.h"

static const char *const verdicts[] = {
	[EGRESS_NO_RULE] = "no-rule",	[EGRESS_OTHER_PORT] = "port", [EGRESS_OTHER_PROTOCOL] = "protocol",
	[EGRESS_RESOLVER] = "resolver", [EGRESS_ALLOWED] = "allowed",
};

/* clang-format off */
/* Public resolvers over HTTPS: through one of them every name can be asked, and data sent in names. */
static const char *const resolvers[] = {
	"cloudflare-dns.com", "one.one.one.one", "dns.google", "dns.google.com", "dns64.dns.google", "quad9.net", "opendns.com",
	"doh.umbrella.com", "nextdns.io", "adguard.com", "adguard-dns.com", "cleanbrowsing.org", "controld.com", "mullvad.net",
	"dns.sb", "doh.li", "libredns.gr", "applied-privacy.net", "dns0.eu", "dns.alidns.com", "doh.pub", "doh.360.cn", "digitale-gesellschaft.ch",
	"ffmuc.net", "iij.jp", "dns.switch.ch", "he.net", "xfinity.com", "decloudus.com", "blahdns.com", "rethinkdns.com",
};
/* clang-format on */

const char *egress_verdict_name(enum egress_verdict v)
{
	return verdicts[v];
}

static bool is_resolver(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(resolvers); i++) {
		const size_t n = strlen(name), b = strlen(resolvers[i]);

		if (n >= b && strcmp(name + n - b, resolvers[i]) == 0 && (n == b || name[n - b - 1] == '.'))
			return true;
	}
	return false;
}

/* A rule of this port before one of another, then the longer name. */
static bool is_nearer(const struct host_rule *r, const struct host_rule *than, uint16_t port)
{
	if (!than)
		return true;
	if (port && (r->port == port) != (than->port == port))
		return r->port == port;
	return host_rule_weight(r) > host_rule_weight(than);
}

enum egress_verdict egress_decide(const struct host_rule *rules, size_t n, const struct egress_question *q,
				  const struct host_rule **ret_rule)
{
	const struct host_rule *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (host_rule_matches(&rules[i], q->name) && is_nearer(&rules[i], best, q->port))
			best = &rules[i];
	*ret_rule = best;
	if (!best)
		return EGRESS_NO_RULE;
	if (q->port && best->port != q->port)
		return EGRESS_OTHER_PORT;
	if (q->protocol != EGRESS_ANY_PROTOCOL && best->protocol != q->protocol &&
	    best->protocol != HOST_PROTOCOL_TCP)
		return EGRESS_OTHER_PROTOCOL;
	if (host_rule_is_wildcard(best) && is_resolver(q->name))
		return EGRESS_RESOLVER;
	return EGRESS_ALLOWED;
}

bool egress_address_fits(const struct host_rule *rule, const struct sockaddr *a, socklen_t len)
{
	switch (net_address_kind(a, len)) {
	case NET_ADDRESS_PUBLIC:
		return true;
	case NET_ADDRESS_PRIVATE:
	case NET_ADDRESS_LOOPBACK:
		return rule->is_private;
	/* No rule leads to the services of a cloud that hand out its keys. */
	case NET_ADDRESS_LINK_LOCAL:
	case NET_ADDRESS_NEVER:
		break;
	}
	return false;
}
