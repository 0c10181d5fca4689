/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/container-gate.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "layer/init-proto.h"

void container_gate_take(struct container_gate *g, struct warden_held *h)
{
	g->listener = TAKE_FD(h->gate);
	g->dir = TAKE_FD(h->gate_dir);
}

/* The name first: the payload must not find it. */
static void shut(struct container_gate *g)
{
	if (g->dir >= 0)
		(void)unlinkat(g->dir, INIT_GATE_NAME, 0);
	g->listener = fd_close(g->listener);
	g->dir = fd_close(g->dir);
}

static bool is_first(int fd, int pidfd, pid_t pid)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.pid == pid &&
	       syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0;
}

void container_gate_accept(struct container_gate *g, int pidfd, pid_t pid)
{
	while (g->peer < 0) {
		int fd = accept4(g->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			return;
		if (is_first(fd, pidfd, pid))
			g->peer = fd;
		else
			(void)fd_close(fd);
	}
	g->used = true;
	shut(g);
}

bool container_gate_is_ready(struct container_gate *g)
{
	struct init_gate_msg m;
	ssize_t n = recv(g->peer, &m, sizeof(m), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n == (ssize_t)sizeof(m) && m.magic == INIT_PROTO_MAGIC && m.type == INIT_MSG_READY)
		return true;
	g->peer = fd_close(g->peer);
	return false;
}

bool container_gate_answer(struct container_gate *g, const char *why)
{
	struct init_gate_msg m = { .magic = INIT_PROTO_MAGIC, .type = why ? INIT_MSG_REFUSED : INIT_MSG_GO };
	bool sent;

	if (why)
		(void)snprintf(m.text, sizeof(m.text), "%s", why);
	sent = send(g->peer, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(m);
	g->peer = fd_close(g->peer);
	return sent;
}

void container_gate_done(struct container_gate *g)
{
	shut(g);
	g->peer = fd_close(g->peer);
}
