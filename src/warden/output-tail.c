/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/output-tail.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fd.h"

void tail_done(struct tail *t)
{
	t->in = fd_close(t->in);
	t->out = fd_close(t->out);
	t->null = fd_close(t->null);
}

int tail_open(struct tail *t, struct fault *f)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return fault_errno(f, errno, "pipe for the last output");
	t->out = fd[0];
	t->in = fd[1];
	/* The limit of this user may be smaller: then less is kept. */
	(void)fcntl(t->in, F_SETPIPE_SZ, TAIL_PIPE_SIZE);
	t->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (t->null < 0) {
		int r = fault_errno(f, errno, "open '/dev/null'");

		tail_done(t);
		return r;
	}
	return 0;
}

static void forget_half(struct tail *t)
{
	int there = 0;

	if (ioctl(t->out, FIONREAD, &there) < 0)
		return;
	(void)splice(t->out, NULL, t->null, NULL, (size_t)there / 2 + 1, SPLICE_F_NONBLOCK);
}

size_t tail_tee(struct tail *t, int pipe, size_t max)
{
	ssize_t n = tee(pipe, t->in, max, SPLICE_F_NONBLOCK);
	int there = 0;

	/* The pipe is empty, or ours is full. */
	if (n < 0 && errno == EAGAIN && ioctl(pipe, FIONREAD, &there) == 0 && there > 0) {
		forget_half(t);
		n = tee(pipe, t->in, max, SPLICE_F_NONBLOCK);
	}
	return n > 0 ? (size_t)n : 0;
}

void tail_add(struct tail *t, const char *bytes, size_t len)
{
	for (int tries = 0; len > 0 && tries < 8; tries++) {
		ssize_t n = write(t->in, bytes, len);

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else {
			forget_half(t);
		}
	}
}

int tail_read(struct tail *t, char **ret, size_t *ret_len, struct fault *f)
{
	t->in = fd_close(t->in);
	return fd_read_all(t->out, 2 * TAIL_PIPE_SIZE, ret, ret_len, f);
}
