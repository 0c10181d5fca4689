/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "egress/egress-impl.h"

/*
 * A connection has two records: net.connect before its first byte leaves, net.close with bytes and time.  Refusals beyond a number are
 * counted in one more record, so that a loop cannot fill the ledger.
 */
#define MS UINT64_C(1000000)

static const char *const doors[] = {
	[EGRESS_DOOR_ADDRESS] = "address",
	[EGRESS_DOOR_CONNECT] = "connect",
	[EGRESS_DOOR_PROXY] = "proxy",
	[EGRESS_DOOR_DNS] = "dns",
};

void egress_id_text(uint64_t id, char ret[32])
{
	(void)snprintf(ret, 32, "net-%" PRIu64, id);
}

/* Waits for the supervisor: a flood delays the sandbox, not the supervisor. */
static void send_record(struct egress_server *s, const char *kind, const char *status, struct jdoc *d)
{
	_cleanup_jdoc_ struct jdoc *m = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf text = { 0 };

	jdoc_set_string(m, "k", kind);
	jdoc_set_string(m, "s", status);
	jdoc_set(m, "d", d);
	if (jdoc_write(m, JDOC_CANONICAL, &text, NULL) < 0 || text.len > EGRESS_RECORD_MAX ||
	    send(s->link, text.text, text.len, MSG_NOSIGNAL) < 0)
		s->over = true;
}

static void put_rule(struct jdoc *d, const struct host_rule *rule)
{
	_cleanup_free_ char *text = rule ? host_rule_text(rule) : NULL;

	if (rule)
		jdoc_set_string(d, "rule", text);
}

static struct jdoc *describe(uint64_t id, enum egress_door door, const char *name, uint16_t port)
{
	struct jdoc *d = jdoc_new_object();
	char text[32];

	egress_id_text(id, text);
	jdoc_set_string(d, "id", text);
	jdoc_set_string(d, "door", doors[door]);
	if (*name)
		jdoc_set_string(d, "host", name);
	if (port)
		jdoc_set_int(d, "port", port);
	return d;
}

void egress_record_refusal(struct egress_server *s, const struct egress_refusal *r)
{
	struct jdoc *d;

	if (s->refused++ >= EGRESS_REFUSALS_RECORDED) {
		s->unrecorded++;
		return;
	}
	d = describe(r->id, r->door, r->name, r->port);
	jdoc_set_string(d, "refused", r->why);
	put_rule(d, r->rule);
	if (r->said)
		jdoc_set_string(d, "said", r->said);
	if (r->detail)
		jdoc_set_string(d, "detail", r->detail);
	send_record(s, "net.refused", "denied", d);
}

static void put_address(struct jdoc *d, const struct egress_connection *c)
{
	const struct sockaddr_storage *a = &c->addresses[c->address_at];
	const void *at = a->ss_family == AF_INET
				 ? (const void *)&((const struct sockaddr_in *)(const void *)a)->sin_addr
				 : (const void *)&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(a->ss_family, at, text, sizeof(text)))
		jdoc_set_string(d, "address", text);
}

void egress_record_connect(struct egress_connection *c)
{
	struct jdoc *d = describe(c->id, c->door, c->name, c->port);

	put_rule(d, c->rule);
	put_address(d, c);
	/* Another name may be hidden, or the client only looks as if: only the server can tell. */
	if (c->has_ech)
		jdoc_set_bool(d, "ech", true);
	c->is_recorded = true;
	send_record(c->server, "net.connect", "ok", d);
}

void egress_record_close(struct egress_connection *c)
{
	struct jdoc *d = describe(c->id, c->door, c->name, c->port);

	put_rule(d, c->rule);
	jdoc_set_int(d, "sent", (int64_t)c->sent.bytes);
	jdoc_set_int(d, "received", (int64_t)c->received.bytes);
	jdoc_set_int(d, "ms", (int64_t)((clock_boot_ns() - c->started_ns) / MS));
	send_record(c->server, "net.close", "ok", d);
}

void egress_record_failure(struct egress_connection *c, const char *why)
{
	struct jdoc *d = describe(c->id, c->door, c->name, c->port);

	put_rule(d, c->rule);
	jdoc_set_string(d, "failed", why);
	send_record(c->server, "net.failed", "failed", d);
}

void egress_record_end(struct egress_server *s)
{
	struct jdoc *d;

	if (s->unrecorded == 0)
		return;
	d = jdoc_new_object();
	jdoc_set_int(d, "more", (int64_t)s->unrecorded);
	send_record(s, "net.refused", "denied", d);
}
