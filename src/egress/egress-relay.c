/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "egress/egress-impl.h"

#define PIECE ((size_t)16 * 1024)

void egress_relay_begin(struct egress_connection *c)
{
	const int one = 1;

	egress_record_connect(c);
	(void)setsockopt(c->client.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void)setsockopt(c->upstream.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	egress_connection_set(c, EGRESS_RELAY, EGRESS_LIFE_MS);
	egress_relay_step(c);
}

/* Bytes that were read before the relay, and of plain HTTP the whole request.  1: everything; 0: some waits; negative: broken. */
static int send_first(struct egress_connection *c)
{
	while (c->up_at < c->up.len) {
		ssize_t n = send(c->upstream.fd, c->up.text + c->up_at, c->up.len - c->up_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		c->up_at += (size_t)n;
		c->sent.bytes += (size_t)n;
	}
	strbuf_done(&c->up);
	c->up = (struct strbuf){ 0 };
	c->up_at = 0;
	return 1;
}

static void end_body(struct egress_connection *c)
{
	free(c->body);
	c->body = NULL;
}

/* The body of the one request of this connection.  Further bytes are not read. */
static int send_body(struct egress_connection *c)
{
	int r = send_first(c);

	while (r > 0 && c->body) {
		char bytes[PIECE];
		ssize_t n = recv(c->client.fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		enum http_body_state state;
		size_t used = 0;

		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		if (n == 0)
			return -ECONNRESET;
		state = http_body_take(c->body, bytes, (size_t)n, &used);
		if (state == HTTP_BODY_BAD)
			return -EBADMSG;
		strbuf_add(&c->up, bytes, used);
		if (c->up.broken)
			return -ENOMEM;
		if (state == HTTP_BODY_DONE)
			end_body(c);
		r = send_first(c);
	}
	return r < 0 ? r : 0;
}

static bool body_is_over(struct egress_connection *c)
{
	size_t used;

	if (c->body && http_body_take(c->body, "", 0, &used) == HTTP_BODY_DONE)
		end_body(c);
	return !c->body;
}

static int step_sent(struct egress_connection *c)
{
	int r;

	if (c->is_http) {
		(void)body_is_over(c);
		return send_body(c);
	}
	r = send_first(c);
	return r > 0 ? egress_flow_step(&c->sent, c->client.fd, c->upstream.fd) : r;
}

/* One that has shut both directions reports that at each look. */
static int watch_side(struct egress_connection *c, struct egress_watch *w, bool reads, bool writes)
{
	return egress_watch_set(c->server, w, (reads ? EPOLLIN : 0U) | (writes ? EPOLLOUT : 0U));
}

void egress_relay_step(struct egress_connection *c)
{
	int sent = step_sent(c), received;
	bool sends, reads;

	received = sent < 0 ? sent : egress_flow_step(&c->received, c->upstream.fd, c->client.fd);
	if (received < 0 || (received > 0 && (c->is_http || sent > 0))) {
		egress_connection_close(c);
		return;
	}
	c->active_ns = clock_boot_ns();
	sends = c->up_at < c->up.len || c->sent.waiting > 0;
	reads = !sends && (c->is_http ? c->body != NULL : !c->sent.eof);
	if (watch_side(c, &c->client, reads, c->received.waiting > 0) < 0 ||
	    watch_side(c, &c->upstream, !c->received.eof && c->received.waiting == 0, sends) < 0)
		egress_connection_close(c);
}
