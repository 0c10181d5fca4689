/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/str.h"
#include "egress/dns-pool.h"
#include "egress/egress-decide.h"
#include "egress/egress-net.h"
#include "egress/egress.h"
#include "egress/http-body.h"

/* Private to the program custody-egress: one thread with epoll, and threads that only resolve names. */
#define EGRESS_CONNECTIONS_MAX 1024 /* fewer where the limit of open files is low */
#define EGRESS_NAMES_MAX 16384
#define EGRESS_REFUSALS_RECORDED 256
#define EGRESS_ADDRESSES_MAX 8

#define EGRESS_HEAD_MS UINT64_C(10000) /* for a request head, a ClientHello, a question */
#define EGRESS_RESOLVE_MS UINT64_C(20000)
#define EGRESS_CONNECT_MS UINT64_C(10000) /* for each address */
#define EGRESS_LINGER_MS UINT64_C(2000)
#define EGRESS_IDLE_MS (UINT64_C(15) * 60 * 1000)
#define EGRESS_LIFE_MS (UINT64_C(24) * 3600 * 1000)

struct egress_server;

struct egress_watch {
	int fd; /* -EBADF: none */
	uint32_t events;
	bool added;
	void (*ready)(struct egress_server *s, void *arg, uint32_t events);
	void *arg;
};

/* Bytes of one direction, in a pipe only while they wait. */
struct egress_flow {
	int pipe[2];
	size_t waiting;
	bool eof, over; /* the source has ended; the target was told */
	uint64_t bytes;
};

enum egress_door {
	EGRESS_DOOR_ADDRESS, /* a connection to an address of the pool */
	EGRESS_DOOR_CONNECT,
	EGRESS_DOOR_PROXY, /* a request with an absolute target */
	EGRESS_DOOR_DNS,
};

enum egress_state {
	EGRESS_HEAD,	 /* the proxy reads a request head */
	EGRESS_QUESTION, /* DNS over TCP */
	EGRESS_HELLO,
	EGRESS_REQUEST, /* the head of a plain request, not to the proxy */
	EGRESS_RESOLVE,
	EGRESS_CONNECTING,
	EGRESS_RELAY,
	EGRESS_REPLY, /* OUT, then the end */
	EGRESS_LINGER,
};

struct egress_connection {
	struct egress_connection *next, *before;
	struct egress_server *server;
	struct egress_watch client, upstream;
	enum egress_state state;
	enum egress_door door;
	uint64_t id;
	const struct host_rule *rule;
	char name[HOSTNAME_SIZE];
	uint16_t port;
	struct strbuf in;  /* of the client, not understood yet */
	struct strbuf out; /* to the client */
	size_t out_at;
	struct strbuf up; /* to the upstream, before the flow */
	size_t up_at;
	struct http_head head;
	const char *detail; /* of a refusal: static text; NULL: none */
	bool has_ech;
	struct http_body *body; /* plain HTTP: NULL once the request is complete, or for other protocols */
	bool is_http, is_recorded, is_dead;
	struct egress_flow sent, received;
	struct sockaddr_storage addresses[EGRESS_ADDRESSES_MAX];
	socklen_t address_len[EGRESS_ADDRESSES_MAX];
	size_t n_addresses, address_at;
	uint64_t started_ns, active_ns, deadline_ns;
};

struct egress_resolver;

struct egress_server {
	struct egress_config config;
	int epoll, link;
	bool over;
	uint16_t ports[HOST_RULE_PORTS_MAX];
	size_t n_ports;
	struct egress_watch link_watch, resolver_watch, listeners[EGRESS_LISTENERS_MAX];
	struct dns_pool *pool;
	struct egress_resolver *resolver;
	struct egress_connection *first, *dead;
	size_t n_connections, connections_max;
	uint64_t ids, refused, unrecorded;
	char last_name[HOSTNAME_SIZE]; /* that DNS refused */
	uint64_t looked_ns;
};

/* egress-server.c */
int egress_watch_set(struct egress_server *s, struct egress_watch *w, uint32_t events);
void egress_watch_close(struct egress_server *s, struct egress_watch *w);
int egress_serve(struct egress_server *s, struct fault *f) _must_check_;
uint64_t egress_next_id(struct egress_server *s);

/* egress-connection.c: from the accepted socket to its end. */
void egress_connection_open(struct egress_server *s, int fd, enum egress_state state, enum egress_door door);
void egress_connection_close(struct egress_connection *c);
void egress_connection_set(struct egress_connection *c, enum egress_state state, uint64_t ms);
struct egress_connection *egress_connection_find(struct egress_server *s, uint64_t id);
/* Where PORT's listener accepted: the name belongs to the address. */
void egress_connection_start(struct egress_connection *c);
/* WHY: "sni", "no-rule" ...  A reply where the client speaks HTTP, the end elsewhere; recorded. */
void egress_connection_refuse(struct egress_connection *c, const char *why);
/* The end of one that is recorded already: a TLS alert. */
void egress_connection_alert(struct egress_connection *c);
/* Allowed, but not reachable. */
void egress_connection_fail(struct egress_connection *c, const char *why);

/* egress-read.c: the client's bytes before the relay. */
void egress_read(struct egress_connection *c);
void egress_read_next(struct egress_connection *c);		     /* of C->in */
bool egress_ask(struct egress_connection *c, unsigned int protocol); /* decide; false: refused */

/* egress-upstream.c: resolve, vet, connect. */
void egress_upstream_resolve(struct egress_connection *c);
void egress_resolver_ready(struct egress_server *s, void *arg, uint32_t events);
void egress_upstream_ready(struct egress_connection *c); /* the socket that connects */
void egress_upstream_next(struct egress_connection *c);	 /* the address did not answer in time */

/* egress-relay.c */
void egress_relay_begin(struct egress_connection *c);
void egress_relay_step(struct egress_connection *c);

/* egress-flow.c: 0: more may come; 1: over; negative: broken. */
int egress_flow_step(struct egress_flow *f, int from, int to) _must_check_;
void egress_flow_init(struct egress_flow *f);
void egress_flow_done(struct egress_flow *f);

/* egress-resolve.c: getaddrinfo in threads. */
struct egress_answer {
	uint64_t id;	       /* of the connection */
	int error;	       /* EAI_* */
	struct addrinfo *list; /* the caller's */
};
int egress_resolver_new(struct egress_resolver **ret, int *ret_fd, struct fault *f) _must_check_;
int egress_resolver_ask(struct egress_resolver *r, uint64_t id, const char *name, uint16_t port) _must_check_;
bool egress_resolver_take(struct egress_resolver *r, struct egress_answer *ret);

/* egress-dns.c */
void egress_dns_ready(struct egress_server *s, void *arg, uint32_t events); /* UDP */
/* The answer to one question; 0: none. */
size_t egress_dns_answer(struct egress_server *s, const uint8_t *bytes, size_t len, uint8_t *out,
			 size_t size);

/* egress-record.c */
struct egress_refusal {
	uint64_t id;
	enum egress_door door;
	const char *name, *why;
	uint16_t port; /* 0: none */
	const struct host_rule *rule;
	const char *said;   /* another name that the client gave; NULL: none */
	const char *detail; /* the fault of a request or a hello; NULL: none */
};
void egress_record_refusal(struct egress_server *s, const struct egress_refusal *r);
void egress_record_connect(struct egress_connection *c);
void egress_record_close(struct egress_connection *c);
void egress_record_failure(struct egress_connection *c, const char *why);
void egress_record_end(struct egress_server *s);
void egress_id_text(uint64_t id, char ret[32]); /* "net-7" */

/* egress-reply.c: the reply to a refused or failed request, into C->out. */
void egress_reply_refusal(struct egress_connection *c, const char *why, bool failed);
void egress_reply_connected(struct egress_connection *c);
