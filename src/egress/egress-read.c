/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "egress/dns-message.h"
#include "egress/egress-impl.h"
#include "egress/tls-hello.h"

#define PIECE ((size_t)4096)

bool egress_ask(struct egress_connection *c, unsigned int protocol)
{
	const struct egress_question q = { .name = c->name, .port = c->port, .protocol = protocol };
	enum egress_verdict v =
		egress_decide(c->server->config.rules, c->server->config.n_rules, &q, &c->rule);

	if (v == EGRESS_ALLOWED)
		return true;
	egress_connection_refuse(c, egress_verdict_name(v));
	return false;
}

static void drop_read(struct egress_connection *c, size_t len)
{
	memmove(c->in.text, c->in.text + len, c->in.len - len);
	c->in.len -= len;
}

static void set_target(struct egress_connection *c)
{
	memcpy(c->name, c->head.host, sizeof(c->name));
	c->port = c->head.port;
}

/*
 * The head for the server, and the first bytes of the body.  One request for each connection: so each is decided anew, whatever the server
 * does with connections that are kept.
 */
static void take_request(struct egress_connection *c)
{
	size_t used = 0;

	c->head.closes = true;
	http_head_write(&c->head, c->in.text, &c->up);
	drop_read(c, c->head.len);
	c->body = calloc(1, sizeof(*c->body));
	if (!c->body || c->up.broken) {
		egress_connection_close(c);
		return;
	}
	http_body_init(c->body, &c->head);
	if (http_body_take(c->body, c->in.text, c->in.len, &used) == HTTP_BODY_BAD) {
		c->detail = c->body->why;
		egress_connection_refuse(c, "request");
		return;
	}
	strbuf_add(&c->up, c->in.text, used);
	c->in.len = 0;
	c->is_http = true;
	if (c->upstream.fd >= 0)
		egress_relay_begin(c);
	else
		egress_upstream_resolve(c);
}

/* A request that is no proxy's: of an allowed name, so its host must be that name. */
static void on_request(struct egress_connection *c)
{
	if (c->head.target == HTTP_TARGET_AUTHORITY || c->head.is_websocket)
		egress_connection_refuse(c, "request");
	else if (strcmp(c->head.host, c->name) != 0 || c->head.port != c->port)
		egress_connection_refuse(c, "host");
	else
		take_request(c);
}

static void on_proxy_request(struct egress_connection *c)
{
	if (c->head.target == HTTP_TARGET_AUTHORITY) {
		c->door = EGRESS_DOOR_CONNECT;
		set_target(c);
		drop_read(c, c->head.len);
		if (egress_ask(c, EGRESS_ANY_PROTOCOL))
			egress_upstream_resolve(c);
		return;
	}
	if (c->head.target != HTTP_TARGET_ABSOLUTE || c->head.is_websocket) {
		egress_connection_refuse(c, "request");
		return;
	}
	set_target(c);
	if (egress_ask(c, HOST_PROTOCOL_HTTP))
		take_request(c);
}

static bool read_head(struct egress_connection *c)
{
	switch (http_head_parse(&c->head, c->in.text, c->in.len)) {
	case HTTP_HEAD_MORE:
		return true;
	case HTTP_HEAD_BAD:
		c->detail = c->head.why;
		egress_connection_refuse(c, "request");
		return false;
	case HTTP_HEAD_DONE:
		break;
	}
	if (c->state == EGRESS_HEAD)
		on_proxy_request(c);
	else
		on_request(c);
	return false;
}

static void refuse_name(struct egress_connection *c, const char *said)
{
	const struct egress_refusal r = { .id = c->id,
					  .door = c->door,
					  .name = c->name,
					  .port = c->port,
					  .why = "sni",
					  .rule = c->rule,
					  .said = said };

	egress_record_refusal(c->server, &r);
	egress_connection_alert(c);
}

static bool read_hello(struct egress_connection *c)
{
	struct tls_hello h;

	switch (tls_hello_parse((const uint8_t *)c->in.text, c->in.len, &h)) {
	case TLS_HELLO_MORE:
		return true;
	case TLS_HELLO_BAD:
		c->detail = h.why;
		egress_connection_refuse(c, "tls");
		return false;
	case TLS_HELLO_DONE:
		break;
	}
	if (strcmp(h.name, c->name) != 0) {
		refuse_name(c, h.name);
		return false;
	}
	c->has_ech = h.has_ech;
	strbuf_add(&c->up, c->in.text, c->in.len);
	c->in.len = 0;
	if (c->upstream.fd >= 0)
		egress_relay_begin(c);
	else
		egress_upstream_resolve(c);
	return false;
}

/* Two bytes of length before each question and each answer. */
static bool read_question(struct egress_connection *c)
{
	const uint8_t *at = (const uint8_t *)c->in.text;
	uint8_t answer[2 + DNS_ANSWER_SIZE];
	size_t len = c->in.len < 2 ? 0 : (size_t)at[0] << 8 | at[1], size;

	if (c->in.len < 2 || (len <= DNS_QUERY_MAX && c->in.len < 2 + len))
		return true;
	size = len > DNS_QUERY_MAX ? 0
				   : egress_dns_answer(c->server, at + 2, len, answer + 2, DNS_ANSWER_SIZE);
	answer[0] = (uint8_t)(size >> 8);
	answer[1] = (uint8_t)size;
	/* A client that does not read its answers has no further one. */
	if (size == 0 ||
	    send(c->client.fd, answer, 2 + size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)(2 + size)) {
		egress_connection_close(c);
		return false;
	}
	drop_read(c, 2 + len);
	egress_connection_set(c, EGRESS_QUESTION, EGRESS_HEAD_MS);
	return c->in.len == 0 || read_question(c);
}

/* True: more bytes are needed. */
static bool understand(struct egress_connection *c)
{
	switch ((unsigned int)c->state) {
	case EGRESS_QUESTION:
		return read_question(c);
	case EGRESS_HELLO:
		return read_hello(c);
	default:
		return read_head(c);
	}
}

void egress_read(struct egress_connection *c)
{
	char bytes[PIECE];
	ssize_t n = recv(c->client.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		strbuf_add(&c->in, bytes, (size_t)n);
	if (n <= 0 || c->in.broken) {
		egress_connection_close(c);
		return;
	}
	(void)understand(c);
}

/* The name is decided: what the rule says must come now. */
void egress_read_next(struct egress_connection *c)
{
	if (c->rule->protocol == HOST_PROTOCOL_TCP) {
		if (c->in.len > 0)
			strbuf_add(&c->up, c->in.text, c->in.len);
		c->in.len = 0;
		if (c->upstream.fd >= 0)
			egress_relay_begin(c);
		else
			egress_upstream_resolve(c);
		return;
	}
	c->head = (struct http_head){ 0 };
	egress_connection_set(c, c->rule->protocol == HOST_PROTOCOL_TLS ? EGRESS_HELLO : EGRESS_REQUEST,
			      EGRESS_HEAD_MS);
	if (egress_watch_set(c->server, &c->client, EPOLLIN) < 0)
		egress_connection_close(c);
	else if (c->in.len > 0)
		(void)understand(c);
}
