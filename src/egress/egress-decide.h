/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <sys/socket.h>

#include "profile/host-rule.h"

/*
 * May a session reach this name?  Pure, and the only place that answers: DNS, connections to an address of the pool, CONNECT and
 * requests with an absolute target ask here, before anything is resolved.
 */
enum egress_verdict {
	EGRESS_NO_RULE, /* no rule has the name */
	EGRESS_OTHER_PORT,
	EGRESS_OTHER_PROTOCOL,
	EGRESS_RESOLVER, /* a public resolver over HTTPS, which only a rule with its own name allows */
	EGRESS_ALLOWED,
};

struct egress_question {
	const char *name;      /* canonical */
	uint16_t port;	       /* 0: any, for DNS */
	unsigned int protocol; /* EGRESS_ANY_PROTOCOL: that of the rule */
};
#define EGRESS_ANY_PROTOCOL (~0U)

/* RET_RULE: the rule that decided, or the nearest one; NULL: none.  Of several the one with the longest name. */
enum egress_verdict egress_decide(const struct host_rule *rules, size_t n, const struct egress_question *q,
				  const struct host_rule **ret_rule);
const char *egress_verdict_name(enum egress_verdict v); /* "no-rule": in records and replies */

/* May RULE lead to this address, which its name was resolved to? */
bool egress_address_fits(const struct host_rule *rule, const struct sockaddr *a, socklen_t len);
