/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "egress/dns-message.h"
#include "egress/egress-impl.h"

/*
 * The resolver inside.  It knows the names that a rule allows, and gives each of them an address of the pool; it asks no other resolver.
 * Every other name does not exist.
 */
#define TTL_S 300
#define QUESTIONS 64 /* of one round */

static void refuse(struct egress_server *s, const char *name, const char *why, const struct host_rule *rule)
{
	const struct egress_refusal r = {
		.id = egress_next_id(s), .door = EGRESS_DOOR_DNS, .name = name, .why = why, .rule = rule
	};

	/* Programs ask twice, for A and AAAA, and again for each try. */
	if (strcmp(s->last_name, name) == 0)
		return;
	memcpy(s->last_name, name, strlen(name) + 1);
	egress_record_refusal(s, &r);
}

static size_t answer_name(struct egress_server *s, const struct dns_query *q, uint8_t *out, size_t size)
{
	const struct egress_question ask = { .name = q->name, .protocol = EGRESS_ANY_PROTOCOL };
	const struct host_rule *rule;
	enum egress_verdict v;
	struct in_addr a;

	if (strcmp(q->name, "localhost") == 0 && q->type == DNS_TYPE_A) {
		a.s_addr = htonl(INADDR_LOOPBACK);
		return dns_answer_write(q, DNS_RCODE_NOERROR, &a, TTL_S, out, size);
	}
	v = egress_decide(s->config.rules, s->config.n_rules, &ask, &rule);
	if (v != EGRESS_ALLOWED) {
		refuse(s, q->name, egress_verdict_name(v), rule);
		return dns_answer_write(q, DNS_RCODE_NXDOMAIN, NULL, TTL_S, out, size);
	}
	/* No HTTPS record: it could offer ECH, which hides the name.  No AAAA: there is no IPv6. */
	if (q->type != DNS_TYPE_A)
		return dns_answer_write(q, DNS_RCODE_NOERROR, NULL, TTL_S, out, size);
	if (dns_pool_get(s->pool, q->name, &a) < 0) {
		refuse(s, q->name, "names", rule);
		return dns_answer_write(q, DNS_RCODE_SERVFAIL, NULL, TTL_S, out, size);
	}
	return dns_answer_write(q, DNS_RCODE_NOERROR, &a, TTL_S, out, size);
}

size_t egress_dns_answer(struct egress_server *s, const uint8_t *bytes, size_t len, uint8_t *out, size_t size)
{
	struct dns_query q;
	int r = dns_query_parse(bytes, len, &q);

	if (r == -EBADMSG)
		return 0;
	if (r < 0)
		return dns_answer_write(&q, dns_query_rcode(r), NULL, 0, out, size);
	return answer_name(s, &q, out, size);
}

void egress_dns_ready(struct egress_server *s, void *arg, uint32_t events)
{
	const struct egress_watch *w = arg;

	(void)events;
	for (int i = 0; i < QUESTIONS; i++) {
		uint8_t question[DNS_QUERY_MAX], answer[DNS_ANSWER_SIZE];
		struct sockaddr_in from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(w->fd, question, sizeof(question), 0, (struct sockaddr *)&from, &len);
		size_t size;

		if (n < 0)
			return;
		size = egress_dns_answer(s, question, (size_t)n, answer, sizeof(answer));
		if (size > 0)
			(void)sendto(w->fd, answer, size, 0, (const struct sockaddr *)&from, len);
	}
}
