/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define SPLICE_MAX ((size_t)64 * 1024)

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static bool takes_splice(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

void pump_init(struct pump *p, int in, bool own_in, int out, bool own_out)
{
	p->in = in;
	p->out = out;
	p->own_in = own_in;
	p->own_out = own_out;
	p->full = false;
	p->start = p->len = 0;
	p->mode = PUMP_COPY;
	if (in < 0 || out < 0)
		pump_close(p);
	else if (is_pipe(in) && takes_splice(out))
		p->mode = PUMP_SPLICE;
}

bool pump_is_over(const struct pump *p)
{
	return p->in < 0 && p->len == 0;
}

static void close_in(struct pump *p)
{
	if (p->own_in)
		(void)fd_close(p->in);
	p->in = -EBADF;
}

void pump_close(struct pump *p)
{
	close_in(p);
	if (p->own_out)
		(void)fd_close(p->out);
	p->out = -EBADF;
	p->start = p->len = 0;
}

/*
 * Waiting for input, OUT is watched for errors only: when its reader goes away the writer shall hear of it at once,
 * not with its next byte.
 */
void pump_poll(const struct pump *p, struct pollfd ret[2])
{
	bool waiting = p->full || p->len > 0;

	ret[0] = (struct pollfd){ .fd = pump_is_over(p) || waiting ? -1 : p->in, .events = POLLIN };
	ret[1] = (struct pollfd){ .fd = pump_is_over(p) ? -1 : p->out, .events = waiting ? POLLOUT : 0 };
}

/* Nothing more can be delivered.  Closing IN lets the writer see it (EPIPE, SIGPIPE). */
static void give_up(struct pump *p)
{
	pump_close(p);
}

static void finish(struct pump *p)
{
	close_in(p);
	if (p->len == 0)
		pump_close(p);
}

static void step_splice(struct pump *p)
{
	ssize_t n = splice(p->in, NULL, p->out, NULL, SPLICE_MAX, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	p->full = false;
	if (n == 0) {
		finish(p);
	} else if (n < 0 && errno == EINVAL) {
		/* A file opened for appending, for example. */
		p->mode = PUMP_COPY;
	} else if (n < 0 && errno == EAGAIN) {
		p->full = true;
	} else if (n < 0 && errno != EINTR) {
		give_up(p);
	}
}

static ssize_t write_some(struct pump *p)
{
	const char *bytes = p->buffer + p->start;
	ssize_t n = send(p->out, bytes, p->len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == ENOTSOCK)
		n = write(p->out, bytes, p->len);
	return n;
}

static void flush(struct pump *p)
{
	ssize_t n = write_some(p);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			give_up(p);
		return;
	}
	p->start += (size_t)n;
	p->len -= (size_t)n;
	if (p->len == 0 && p->in < 0)
		pump_close(p);
}

static void step_copy(struct pump *p)
{
	ssize_t n;

	if (p->len > 0) {
		flush(p);
		return;
	}
	n = read(p->in, p->buffer, sizeof(p->buffer));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* EIO is how a pty's master says that the last slave was closed. */
	if (n <= 0) {
		finish(p);
		return;
	}
	p->start = 0;
	p->len = (size_t)n;
}

void pump_step(struct pump *p, const struct pollfd polled[2])
{
	if (pump_is_over(p))
		return;
	if (polled[1].revents & (POLLERR | POLLNVAL)) {
		give_up(p);
		return;
	}
	if (p->len > 0 && (polled[1].revents & POLLOUT)) {
		flush(p);
	} else if (p->full && (polled[1].revents & POLLOUT)) {
		step_splice(p);
	} else if (polled[0].revents) {
		if (p->mode == PUMP_SPLICE)
			step_splice(p);
		else
			step_copy(p);
	}
}

bool pump_drain(struct pump *p)
{
	while (!pump_is_over(p)) {
		struct pollfd polled[2];

		pump_poll(p, polled);
		if (poll(polled, 2, 0) <= 0) {
			/* Nothing to read and nobody left who could write: or no room. */
			if (p->full || p->len > 0)
				return false;
			pump_close(p);
			break;
		}
		pump_step(p, polled);
	}
	return true;
}
