/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-call.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"

void container_call_poll(const struct container_call *c, struct pollfd *p)
{
	const bool full = c->n_peers == CONTAINER_CALL_PEERS;

	/* More connections wait in the queue of the socket. */
	p[0] = (struct pollfd){ .fd = full || c->listener < 0 ? -1 : c->listener, .events = POLLIN };
	for (size_t i = 0; i < CONTAINER_CALL_PEERS; i++)
		p[1 + i] = (struct pollfd){ .fd = i < c->n_peers ? c->peers[i] : -1, .events = POLLIN };
}

static bool is_own_user(int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

static void accept_one(struct container_call *c)
{
	int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0 && is_own_user(fd))
		c->peers[c->n_peers++] = fd;
	else
		(void)fd_close(fd);
}

static bool reply(int fd, const char *why)
{
	struct warden_call m = { .type = why ? WARDEN_CALL_REFUSED : WARDEN_CALL_OK };

	if (why)
		(void)snprintf(m.text, sizeof(m.text), "%s", why);
	return warden_call_send(fd, &m, NULL, NULL) >= 0;
}

/* False: the connection is over. */
static bool serve(int fd, container_call_fn answer, void *arg)
{
	struct warden_call m;
	int fds[WARDEN_CALL_FDS], r = warden_call_receive(fd, &m, fds, NULL);
	bool more = r == -EAGAIN;

	if (r == 1)
		more = reply(fd, answer(arg, &m, fds));
	for (int i = 0; i < WARDEN_CALL_FDS; i++)
		(void)fd_close(fds[i]);
	return more;
}

void container_call_step(struct container_call *c, const struct pollfd *p, container_call_fn answer,
			 void *arg)
{
	/* From the end: a connection that is over is replaced by the last one. */
	for (size_t i = c->n_peers; i > 0; i--) {
		if (!p[i].revents || serve(c->peers[i - 1], answer, arg))
			continue;
		(void)fd_close(c->peers[i - 1]);
		c->peers[i - 1] = c->peers[--c->n_peers];
	}
	if (p[0].revents)
		accept_one(c);
}

void container_call_done(struct container_call *c)
{
	while (c->n_peers > 0)
		(void)fd_close(c->peers[--c->n_peers]);
	c->listener = fd_close(c->listener);
}
