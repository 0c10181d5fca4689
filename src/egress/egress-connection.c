/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fd.h"
#include "egress/egress-impl.h"

#define MS UINT64_C(1000000)
#define DISCARD ((size_t)16 * 1024)

uint64_t egress_next_id(struct egress_server *s)
{
	return ++s->ids;
}

void egress_connection_set(struct egress_connection *c, enum egress_state state, uint64_t ms)
{
	c->state = state;
	c->deadline_ns = clock_boot_ns() + ms * MS;
}

struct egress_connection *egress_connection_find(struct egress_server *s, uint64_t id)
{
	struct egress_connection *c = s->first;

	while (c && c->id != id)
		c = c->next;
	return c;
}

/* Freed at the end of the round: an event of it may still be in the list of this one. */
void egress_connection_close(struct egress_connection *c)
{
	struct egress_server *s = c->server;

	if (c->is_dead)
		return;
	if (c->is_recorded)
		egress_record_close(c);
	egress_watch_close(s, &c->client);
	egress_watch_close(s, &c->upstream);
	egress_flow_done(&c->sent);
	egress_flow_done(&c->received);
	strbuf_done(&c->in);
	strbuf_done(&c->out);
	strbuf_done(&c->up);
	free(c->body);
	c->body = NULL;
	if (c->next)
		c->next->before = c->before;
	if (c->before)
		c->before->next = c->next;
	else
		s->first = c->next;
	c->is_dead = true;
	c->next = s->dead;
	s->dead = c;
	s->n_connections--;
}

/* Closing with bytes unread would reset the connection, and the client would lose the reply. */
static void linger(struct egress_connection *c)
{
	(void)shutdown(c->client.fd, SHUT_WR);
	egress_connection_set(c, EGRESS_LINGER, EGRESS_LINGER_MS);
	if (egress_watch_set(c->server, &c->client, EPOLLIN) < 0)
		egress_connection_close(c);
}

static void discard(struct egress_connection *c)
{
	char bytes[DISCARD];
	ssize_t n = recv(c->client.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		egress_connection_close(c);
}

static void write_reply(struct egress_connection *c)
{
	ssize_t n = send(c->client.fd, c->out.text + c->out_at, c->out.len - c->out_at,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		egress_connection_close(c);
		return;
	}
	c->out_at += n > 0 ? (size_t)n : 0;
	if (c->out_at == c->out.len)
		linger(c);
	else if (egress_watch_set(c->server, &c->client, EPOLLOUT) < 0)
		egress_connection_close(c);
}

static void reply(struct egress_connection *c)
{
	if (c->out.broken || c->out.len == 0) {
		egress_connection_close(c);
		return;
	}
	egress_watch_close(c->server, &c->upstream);
	egress_connection_set(c, EGRESS_REPLY, EGRESS_HEAD_MS);
	write_reply(c);
}

/* Fatal alert access_denied: programs then name the reason, not only the end of the connection. */
static const char tls_alert[] = { 21, 3, 1, 0, 2, 2, 49 };

void egress_connection_alert(struct egress_connection *c)
{
	strbuf_add(&c->out, tls_alert, sizeof(tls_alert));
	reply(c);
}

/* Nothing was read: the client speaks what rules say of this port. */
static void answer_by_port(struct egress_connection *c, const char *why, bool failed)
{
	const struct egress_config *g = &c->server->config;
	size_t i = 0;

	while (i < g->n_rules && g->rules[i].port != c->port)
		i++;
	if (i < g->n_rules && g->rules[i].protocol == HOST_PROTOCOL_TLS)
		strbuf_add(&c->out, tls_alert, sizeof(tls_alert));
	else if (i < g->n_rules && g->rules[i].protocol == HOST_PROTOCOL_HTTP)
		egress_reply_refusal(c, why, failed);
}

static void answer(struct egress_connection *c, const char *why, bool failed)
{
	strbuf_done(&c->out);
	c->out = (struct strbuf){ 0 };
	c->out_at = 0;
	if (c->state == EGRESS_HELLO)
		strbuf_add(&c->out, tls_alert, sizeof(tls_alert));
	/* In a tunnel of CONNECT the client has its 200 and speaks what the rule says. */
	else if (c->state == EGRESS_HEAD || c->state == EGRESS_REQUEST || c->is_http ||
		 (c->door == EGRESS_DOOR_CONNECT && c->upstream.fd < 0))
		egress_reply_refusal(c, why, failed);
	else
		answer_by_port(c, why, failed);
	reply(c);
}

void egress_connection_refuse(struct egress_connection *c, const char *why)
{
	const struct egress_refusal r = { .id = c->id,
					  .door = c->door,
					  .name = c->name,
					  .port = c->port,
					  .why = why,
					  .rule = c->rule,
					  .detail = c->detail };

	egress_record_refusal(c->server, &r);
	answer(c, why, false);
}

void egress_connection_fail(struct egress_connection *c, const char *why)
{
	egress_record_failure(c, why);
	answer(c, why, true);
}

static void on_client(struct egress_server *s, void *arg, uint32_t events)
{
	struct egress_connection *c = arg;

	(void)s;
	if (c->is_dead)
		return;
	switch (c->state) {
	case EGRESS_HEAD:
	case EGRESS_QUESTION:
	case EGRESS_HELLO:
	case EGRESS_REQUEST:
		egress_read(c);
		break;
	case EGRESS_RESOLVE:
	case EGRESS_CONNECTING:
		if (events & (EPOLLERR | EPOLLHUP))
			egress_connection_close(c);
		break;
	case EGRESS_RELAY:
		if (events & EPOLLERR)
			egress_connection_close(c);
		else
			egress_relay_step(c);
		break;
	case EGRESS_REPLY:
		write_reply(c);
		break;
	case EGRESS_LINGER:
		discard(c);
		break;
	}
}

static void on_upstream(struct egress_server *s, void *arg, uint32_t events)
{
	struct egress_connection *c = arg;

	(void)s;
	if (c->is_dead)
		return;
	if (c->state == EGRESS_CONNECTING)
		egress_upstream_ready(c);
	else if (c->state == EGRESS_RELAY && !(events & EPOLLERR))
		egress_relay_step(c);
	else if (events & (EPOLLERR | EPOLLHUP))
		egress_connection_close(c);
}

void egress_connection_open(struct egress_server *s, int fd, enum egress_state state, enum egress_door door)
{
	struct egress_connection *c = calloc(1, sizeof(*c));

	if (!c) {
		(void)fd_close(fd);
		return;
	}
	*c = (struct egress_connection){
		.server = s,
		.client = { .fd = fd, .ready = on_client, .arg = c },
		.upstream = { .fd = -EBADF, .ready = on_upstream, .arg = c },
		.door = door,
		.id = egress_next_id(s),
		.started_ns = clock_boot_ns(),
		.next = s->first,
	};
	egress_flow_init(&c->sent);
	egress_flow_init(&c->received);
	if (s->first)
		s->first->before = c;
	s->first = c;
	s->n_connections++;
	egress_connection_set(c, state, EGRESS_HEAD_MS);
	if (door == EGRESS_DOOR_ADDRESS)
		egress_connection_start(c);
	else if (egress_watch_set(s, &c->client, EPOLLIN) < 0)
		egress_connection_close(c);
}

void egress_connection_start(struct egress_connection *c)
{
	struct sockaddr_in a = { 0 };
	socklen_t len = sizeof(a);
	const char *name = NULL;

	if (getsockname(c->client.fd, (struct sockaddr *)&a, &len) == 0 && a.sin_family == AF_INET) {
		name = dns_pool_find(c->server->pool, a.sin_addr);
		c->port = ntohs(a.sin_port);
	}
	/* Before anything is read: which protocol the client speaks is not known yet. */
	c->state = EGRESS_RELAY;
	if (!name) {
		egress_connection_refuse(c, "address");
		return;
	}
	memcpy(c->name, name, strlen(name) + 1);
	if (!egress_ask(c, EGRESS_ANY_PROTOCOL))
		return;
	egress_read_next(c);
}
