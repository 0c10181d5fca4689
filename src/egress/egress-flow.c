/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "egress/egress-impl.h"

#define PIECE ((size_t)64 * 1024)
#define ROUNDS 16 /* then the others have their turn */

void egress_flow_init(struct egress_flow *f)
{
	*f = (struct egress_flow){ .pipe = { -EBADF, -EBADF } };
}

void egress_flow_done(struct egress_flow *f)
{
	f->pipe[0] = fd_close(f->pipe[0]);
	f->pipe[1] = fd_close(f->pipe[1]);
}

/* 1: bytes wait; 0: none now, or the source has ended. */
static int fill(struct egress_flow *f, int from)
{
	ssize_t n;

	if (f->pipe[0] < 0 && pipe2(f->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
		f->pipe[0] = f->pipe[1] = -EBADF;
		return -errno;
	}
	do
		n = splice(from, NULL, f->pipe[1], NULL, PIECE, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	f->eof = n == 0;
	f->waiting = (size_t)n;
	return n > 0;
}

/* 1: all of it; 0: the target takes no more now. */
static int drain(struct egress_flow *f, int to)
{
	while (f->waiting > 0) {
		ssize_t n = splice(f->pipe[0], NULL, to, NULL, f->waiting, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN ? 0 : n < 0 ? -errno : -EPIPE;
		f->waiting -= (size_t)n;
		f->bytes += (uint64_t)n;
	}
	return 1;
}

int egress_flow_step(struct egress_flow *f, int from, int to)
{
	int r = f->waiting > 0 ? drain(f, to) : 1;

	for (int i = 0; r > 0 && i < ROUNDS && !f->eof; i++) {
		r = fill(f, from);
		if (r > 0)
			r = drain(f, to);
	}
	if (r < 0)
		return r;
	/* A pipe without bytes is only a cost: most connections are idle. */
	if (f->waiting == 0)
		egress_flow_done(f);
	if (f->eof && f->waiting == 0 && !f->over) {
		f->over = true;
		(void)shutdown(to, SHUT_WR);
	}
	return f->over;
}
