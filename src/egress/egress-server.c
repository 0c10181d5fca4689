/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "egress/egress-impl.h"

#define MS UINT64_C(1000000)
#define EVENTS 256
#define ACCEPTS 64 /* of one round */
#define TICK_MS UINT64_C(500)

/* Without interest in any event the descriptor is taken out: EPOLLHUP would be reported in each round. */
int egress_watch_set(struct egress_server *s, struct egress_watch *w, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = w };
	const bool wanted = events != 0;

	if (w->added && w->events == events)
		return 0;
	if (!wanted && !w->added)
		return 0;
	if (epoll_ctl(s->epoll,
		      !wanted	 ? EPOLL_CTL_DEL
		      : w->added ? EPOLL_CTL_MOD
				 : EPOLL_CTL_ADD,
		      w->fd, &e) < 0)
		return -errno;
	w->added = wanted;
	w->events = events;
	return 0;
}

void egress_watch_close(struct egress_server *s, struct egress_watch *w)
{
	if (w->fd < 0)
		return;
	(void)!egress_watch_set(s, w, 0);
	w->fd = fd_close(w->fd);
}

static void refuse_more(struct egress_server *s, int fd)
{
	const struct egress_refusal r = { .id = egress_next_id(s), .name = "", .why = "connections" };

	(void)fd_close(fd);
	egress_record_refusal(s, &r);
}

static void on_listener(struct egress_server *s, void *arg, uint32_t events)
{
	const struct egress_watch *w = arg;
	const enum egress_listener which = (enum egress_listener)(w - s->listeners);

	(void)events;
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		if (s->n_connections >= s->connections_max)
			refuse_more(s, fd);
		else if (which == EGRESS_LISTEN_DNS_TCP)
			egress_connection_open(s, fd, EGRESS_QUESTION, EGRESS_DOOR_DNS);
		else if (which == EGRESS_LISTEN_PROXY)
			egress_connection_open(s, fd, EGRESS_HEAD, EGRESS_DOOR_PROXY);
		else
			egress_connection_open(s, fd, EGRESS_RELAY, EGRESS_DOOR_ADDRESS);
	}
}

/* The supervisor sends nothing: it has ended the session, or is gone. */
static void on_link(struct egress_server *s, void *arg, uint32_t events)
{
	(void)arg;
	(void)events;
	s->over = true;
}

static void look_at_time(struct egress_connection *c, uint64_t now)
{
	const bool idle = c->state == EGRESS_RELAY && now > c->active_ns + EGRESS_IDLE_MS * MS;

	if (now < c->deadline_ns && !idle)
		return;
	if (c->state == EGRESS_CONNECTING)
		egress_upstream_next(c);
	else if (c->state == EGRESS_RESOLVE)
		egress_connection_fail(c, "resolve");
	else if (c->state == EGRESS_HEAD || c->state == EGRESS_REQUEST || c->state == EGRESS_HELLO)
		egress_connection_refuse(c, "time");
	else
		egress_connection_close(c);
}

static void on_time(struct egress_server *s)
{
	const uint64_t now = clock_boot_ns();

	/* Not in each round: there may be a thousand. */
	if (now < s->looked_ns + TICK_MS * MS)
		return;
	s->looked_ns = now;
	for (struct egress_connection *c = s->first, *next; c; c = next) {
		next = c->next;
		look_at_time(c, now);
	}
}

static void free_dead(struct egress_server *s)
{
	while (s->dead) {
		struct egress_connection *c = s->dead;

		s->dead = c->next;
		free(c);
	}
}

static int watch_listeners(struct egress_server *s, struct fault *f)
{
	const size_t n = EGRESS_LISTEN_PORTS + s->n_ports;

	for (size_t i = 0; i < n; i++) {
		struct egress_watch *w = &s->listeners[i];

		*w = (struct egress_watch){ .fd = EGRESS_LISTENERS_FD + (int)i,
					    .ready = i == EGRESS_LISTEN_DNS_UDP ? egress_dns_ready
										: on_listener,
					    .arg = w };
		if (fcntl(w->fd, F_SETFD, FD_CLOEXEC) < 0 || egress_watch_set(s, w, EPOLLIN) < 0)
			return fault_errno(f, errno, "listener %zu", i);
	}
	return 0;
}

static int prepare(struct egress_server *s, struct fault *f)
{
	int r;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return fault_errno(f, errno, "epoll");
	s->n_ports = host_rules_ports(s->config.rules, s->config.n_rules, s->ports);
	r = dns_pool_new(EGRESS_NAMES_MAX, &s->pool);
	if (r < 0)
		return fault_errno(f, -r, "names");
	s->resolver_watch = (struct egress_watch){ .ready = egress_resolver_ready };
	r = egress_resolver_new(&s->resolver, &s->resolver_watch.fd, f);
	if (r < 0)
		return r;
	s->link_watch = (struct egress_watch){ .fd = s->link, .ready = on_link };
	if (egress_watch_set(s, &s->link_watch, EPOLLIN) < 0 ||
	    egress_watch_set(s, &s->resolver_watch, EPOLLIN) < 0)
		return fault_errno(f, errno, "epoll");
	return watch_listeners(s, f);
}

static void step(struct egress_server *s)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(s->epoll, events, EVENTS, s->first ? (int)TICK_MS : -1);

	for (int i = 0; i < n && !s->over; i++) {
		struct egress_watch *w = events[i].data.ptr;

		w->ready(s, w->arg, events[i].events);
	}
	on_time(s);
	free_dead(s);
}

int egress_serve(struct egress_server *s, struct fault *f)
{
	int r = prepare(s, f);

	if (r < 0)
		return r;
	/* Ready. */
	if (send(s->link, "", 1, MSG_NOSIGNAL) != 1)
		return fault_errno(f, errno, "supervisor");
	while (!s->over)
		step(s);
	while (s->first)
		egress_connection_close(s->first);
	free_dead(s);
	egress_record_end(s);
	return 0;
}
