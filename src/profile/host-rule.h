/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/*
 * One host that a session may reach: an entry of network.hosts.  The pattern is a name ("api.github.com"), "*.NAME" (every name
 * below it), "**.NAME" (NAME too), or "*".  Labels are compared whole; nothing is resolved to match.
 */
enum host_protocol {
	HOST_PROTOCOL_TLS, /* a TLS ClientHello whose server name is the name */
	HOST_PROTOCOL_HTTP,
	HOST_PROTOCOL_TCP, /* any bytes */
};

/* The fields that profile-table.c fills, then host_rule_complete(). */
struct host_rule {
	char *host;
	uint64_t port; /* 0: the usual one of the protocol */
	unsigned int protocol;
	bool is_private; /* addresses of private networks and of this machine too */
};

#define HOST_RULES_MAX 256
#define HOST_RULE_PORTS_MAX 16 /* different ports: each has a listener */
#define HOST_RULE_PORT_DNS 53  /* of the session's own resolver */
#define HOST_RULE_PORT_PROXY 3128

/* Canonical pattern and port, or why the rule is refused. */
int host_rule_complete(struct host_rule *r, struct fault *f) _must_check_;
/* Rules that contradict each other, and too many ports. */
int host_rules_require(const struct host_rule *rules, size_t n, struct fault *f) _must_check_;

bool host_rule_is_wide(const struct host_rule *r); /* "*", or all names below a single label */
bool host_rule_is_wildcard(const struct host_rule *r);
bool host_rule_matches(const struct host_rule *r, const char *name); /* NAME: canonical, hostname.h */
/* Does BASE allow everything that R allows? */
bool host_rule_covers(const struct host_rule *base, const struct host_rule *r);
/* Bytes of the pattern that a name must have: of two matching rules the one with more decides. */
size_t host_rule_weight(const struct host_rule *r);

/* Different ports of all rules, sorted; at most HOST_RULE_PORTS_MAX. */
size_t host_rules_ports(const struct host_rule *rules, size_t n, uint16_t ret[HOST_RULE_PORTS_MAX]);

const char *host_protocol_name(unsigned int protocol);
/* "api.github.com:443 tls", and " private"; heap, NULL: no memory.  host_rule_parse reads it back. */
char *host_rule_text(const struct host_rule *r);
int host_rule_parse(const char *text, struct host_rule *ret, struct fault *f) _must_check_;
void host_rules_free(struct host_rule *rules, size_t n);
