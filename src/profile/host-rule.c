/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/host-rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hostname.h"
#include "base/str.h"

static const char *const protocols[] = {
	[HOST_PROTOCOL_TLS] = "tls",
	[HOST_PROTOCOL_HTTP] = "http",
	[HOST_PROTOCOL_TCP] = "tcp",
};

const char *host_protocol_name(unsigned int protocol)
{
	return protocol < ARRAY_SIZE(protocols) ? protocols[protocol] : "?";
}

/* Length of "*." or "**." before the name of the pattern, or 0. */
static size_t prefix_of(const char *host)
{
	return str_starts(host, "**.") ? 3 : str_starts(host, "*.") ? 2 : 0;
}

bool host_rule_is_wildcard(const struct host_rule *r)
{
	return r->host[0] == '*';
}

bool host_rule_is_wide(const struct host_rule *r)
{
	return host_rule_is_wildcard(r) && !strchr(r->host + prefix_of(r->host), '.');
}

size_t host_rule_weight(const struct host_rule *r)
{
	/* The name itself weighs more than a pattern of the same length. */
	return host_rule_is_wildcard(r) ? strlen(r->host + prefix_of(r->host)) : SIZE_MAX;
}

static int complete_host(struct host_rule *r, struct fault *f)
{
	const size_t prefix = prefix_of(r->host);
	char name[HOSTNAME_SIZE], *text = NULL;
	int e;

	if (str_eq(r->host, "*"))
		return 0;
	if (strchr(r->host + prefix, '*'))
		return fault_set(f, EINVAL,
				 "'%s': a '*' stands only for whole labels in front: write \"*.NAME\", or "
				 "\"**.NAME\" if NAME itself is meant too",
				 r->host);
	e = hostname_parse(r->host + prefix, strlen(r->host + prefix), name, f);
	if (e < 0)
		return e;
	if (asprintf(&text, "%.*s%s", (int)prefix, r->host, name) < 0)
		return fault_errno(f, ENOMEM, "network.hosts");
	free(r->host);
	r->host = text;
	return 0;
}

int host_rule_complete(struct host_rule *r, struct fault *f)
{
	int e = complete_host(r, f);

	if (e < 0)
		return e;
	if (r->port == 0 && r->protocol == HOST_PROTOCOL_TCP)
		return fault_set(f, EINVAL, "'%s': protocol tcp has no usual port: add \"port\"", r->host);
	if (r->port == 0)
		r->port = r->protocol == HOST_PROTOCOL_HTTP ? 80 : 443;
	if (r->port == HOST_RULE_PORT_DNS || r->port == HOST_RULE_PORT_PROXY)
		return fault_set(f, EINVAL,
				 "'%s': port %d is the sandbox's own %s and cannot lead to another host",
				 r->host, (int)r->port, r->port == HOST_RULE_PORT_DNS ? "resolver" : "proxy");
	return 0;
}

static int compare_ports(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static size_t collect_ports(const struct host_rule *rules, size_t n, uint16_t *ports, size_t max)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		size_t j = 0;

		while (j < found && ports[j] != rules[i].port)
			j++;
		if (j < found)
			continue;
		if (found == max)
			return max + 1;
		ports[found++] = (uint16_t)rules[i].port;
	}
	qsort(ports, found, sizeof(*ports), compare_ports);
	return found;
}

size_t host_rules_ports(const struct host_rule *rules, size_t n, uint16_t ret[HOST_RULE_PORTS_MAX])
{
	size_t found = collect_ports(rules, n, ret, HOST_RULE_PORTS_MAX);

	return found > HOST_RULE_PORTS_MAX ? HOST_RULE_PORTS_MAX : found;
}

int host_rules_require(const struct host_rule *rules, size_t n, struct fault *f)
{
	uint16_t ports[HOST_RULE_PORTS_MAX];

	if (n > HOST_RULES_MAX)
		return fault_set(f, EINVAL, "'network.hosts' has %zu entries, at most %d are allowed", n,
				 HOST_RULES_MAX);
	if (collect_ports(rules, n, ports, HOST_RULE_PORTS_MAX) > HOST_RULE_PORTS_MAX)
		return fault_set(f, EINVAL, "'network.hosts' names more than %d different ports",
				 HOST_RULE_PORTS_MAX);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (str_eq(rules[i].host, rules[j].host) && rules[i].port == rules[j].port &&
			    rules[i].protocol != rules[j].protocol)
				return fault_set(
					f, EINVAL,
					"'network.hosts': '%s' port %d is both %s and %s: remove one",
					rules[i].host, (int)rules[i].port,
					host_protocol_name(rules[j].protocol),
					host_protocol_name(rules[i].protocol));
	return 0;
}

/* Is NAME below BASE, by whole labels? */
static bool is_below(const char *name, const char *base)
{
	size_t n = strlen(name), b = strlen(base);

	return n > b + 1 && name[n - b - 1] == '.' && strcmp(name + n - b, base) == 0;
}

bool host_rule_matches(const struct host_rule *r, const char *name)
{
	const size_t prefix = prefix_of(r->host);
	const char *base = r->host + prefix;

	if (str_eq(r->host, "*"))
		return true;
	if (prefix == 0)
		return strcmp(name, base) == 0;
	return is_below(name, base) || (prefix == 3 && strcmp(name, base) == 0);
}

/* Every name that R matches matches BASE too. */
static bool covers_names(const struct host_rule *base, const struct host_rule *r)
{
	const size_t prefix = prefix_of(r->host);

	if (str_eq(base->host, r->host) || str_eq(base->host, "*"))
		return true;
	if (!host_rule_is_wildcard(r))
		return host_rule_matches(base, r->host);
	if (!host_rule_is_wildcard(base) || str_eq(r->host, "*"))
		return false;
	/* "*.a.b" is below "*.b"; "**.b" has b itself, which "*.b" has not. */
	return is_below(r->host + prefix, base->host + prefix_of(base->host)) ||
	       (prefix <= prefix_of(base->host) &&
		str_eq(r->host + prefix, base->host + prefix_of(base->host)));
}

bool host_rule_covers(const struct host_rule *base, const struct host_rule *r)
{
	return covers_names(base, r) && base->port == r->port &&
	       (base->protocol == r->protocol || base->protocol == HOST_PROTOCOL_TCP) &&
	       (base->is_private || !r->is_private);
}

char *host_rule_text(const struct host_rule *r)
{
	char *text;

	if (asprintf(&text, "%s:%d %s%s", r->host, (int)r->port, host_protocol_name(r->protocol),
		     r->is_private ? " private" : "") < 0)
		return NULL;
	return text;
}

static int parse_end(const char *end, struct host_rule *ret)
{
	static const char suffix[] = " private";

	ret->is_private = str_ends(end, suffix);
	for (unsigned int i = 0; i < ARRAY_SIZE(protocols); i++) {
		_cleanup_free_ char *all = NULL;

		if (asprintf(&all, "%s%s", protocols[i], ret->is_private ? suffix : "") < 0) {
			all = NULL;
			return -ENOMEM;
		}
		if (strcmp(all, end) == 0) {
			ret->protocol = i;
			return 0;
		}
	}
	return -EINVAL;
}

int host_rule_parse(const char *text, struct host_rule *ret, struct fault *f)
{
	const char *colon = strchr(text, ':'), *blank = colon ? strchr(colon, ' ') : NULL;
	_cleanup_free_ char *port = blank ? strndup(colon + 1, (size_t)(blank - colon) - 1) : NULL;
	struct host_rule r = { 0 };
	int e;

	if (!port || str_to_u64(port, &r.port) < 0 || r.port < 1 || r.port > 65535 ||
	    parse_end(blank + 1, &r) < 0)
		return fault_set(f, EINVAL, "'%s' is not \"HOST:PORT PROTOCOL\"", text);
	r.host = strndup(text, (size_t)(colon - text));
	if (!r.host)
		return fault_errno(f, ENOMEM, "network.hosts");
	e = host_rule_complete(&r, f);
	if (e < 0) {
		free(r.host);
		return e;
	}
	*ret = r;
	return 0;
}

void host_rules_free(struct host_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(rules[i].host);
	free(rules);
}
