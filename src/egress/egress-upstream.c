/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "egress/egress-impl.h"

void egress_upstream_resolve(struct egress_connection *c)
{
	egress_connection_set(c, EGRESS_RESOLVE, EGRESS_RESOLVE_MS);
	if (egress_watch_set(c->server, &c->client, 0) < 0)
		egress_connection_close(c);
	else if (egress_resolver_ask(c->server->resolver, c->id, c->name, c->port) < 0)
		egress_connection_fail(c, "resolve");
}

/* Tries the addresses that were vetted, from C->address_at on, and no other. */
static void connect_next(struct egress_connection *c)
{
	for (; c->address_at < c->n_addresses; c->address_at++) {
		const struct sockaddr *a = (const struct sockaddr *)&c->addresses[c->address_at];
		int fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

		if (fd < 0)
			continue;
		c->upstream.fd = fd;
		egress_connection_set(c, EGRESS_CONNECTING, EGRESS_CONNECT_MS);
		if ((connect(fd, a, c->address_len[c->address_at]) == 0 || errno == EINPROGRESS) &&
		    egress_watch_set(c->server, &c->upstream, EPOLLOUT) == 0)
			return;
		egress_watch_close(c->server, &c->upstream);
	}
	egress_connection_fail(c, "connect");
}

static bool has_same_host(const struct sockaddr_storage *a, const struct sockaddr *b)
{
	if (a->ss_family != b->sa_family)
		return false;
	if (b->sa_family == AF_INET)
		return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
	return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
		      &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
		      sizeof(struct in6_addr)) == 0;
}

/*
 * A public address of this machine leads to the services that listen on all of its addresses, as 127.0.0.1 does.  The kernel takes such
 * an address for the source, too; connecting a datagram socket sends nothing.
 */
static bool is_own(const struct sockaddr *a, socklen_t len)
{
	struct sockaddr_storage source = { 0 };
	socklen_t size = sizeof(source);
	_cleanup_close_ int fd = socket(a->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return true;
	if (connect(fd, a, len) < 0)
		return false; /* nor will the connection be made */
	return getsockname(fd, (struct sockaddr *)&source, &size) < 0 || has_same_host(&source, a);
}

static void take_answer(struct egress_connection *c, const struct egress_answer *a)
{
	if (a->error) {
		egress_connection_fail(c, "resolve");
		return;
	}
	for (const struct addrinfo *i = a->list; i && c->n_addresses < EGRESS_ADDRESSES_MAX; i = i->ai_next) {
		if (i->ai_addrlen > sizeof(c->addresses[0]) ||
		    !egress_address_fits(c->rule, i->ai_addr, i->ai_addrlen) ||
		    (!c->rule->is_private && is_own(i->ai_addr, i->ai_addrlen)))
			continue;
		memcpy(&c->addresses[c->n_addresses], i->ai_addr, i->ai_addrlen);
		c->address_len[c->n_addresses++] = i->ai_addrlen;
	}
	if (c->n_addresses == 0)
		egress_connection_refuse(c, "address");
	else
		connect_next(c);
}

void egress_resolver_ready(struct egress_server *s, void *arg, uint32_t events)
{
	struct egress_answer a;

	(void)arg;
	(void)events;
	while (egress_resolver_take(s->resolver, &a)) {
		struct egress_connection *c = egress_connection_find(s, a.id);

		/* The client may have gone meanwhile. */
		if (c && c->state == EGRESS_RESOLVE)
			take_answer(c, &a);
		if (a.error == 0)
			freeaddrinfo(a.list);
	}
}

void egress_upstream_next(struct egress_connection *c)
{
	egress_watch_close(c->server, &c->upstream);
	c->address_at++;
	connect_next(c);
}

void egress_upstream_ready(struct egress_connection *c)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(c->upstream.fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error) {
		egress_upstream_next(c);
		return;
	}
	if (egress_watch_set(c->server, &c->upstream, 0) < 0) {
		egress_connection_close(c);
		return;
	}
	if (c->door != EGRESS_DOOR_CONNECT) {
		egress_relay_begin(c);
		return;
	}
	egress_reply_connected(c);
	if (send(c->client.fd, c->out.text, c->out.len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)c->out.len) {
		egress_connection_close(c);
		return;
	}
	egress_read_next(c);
}
