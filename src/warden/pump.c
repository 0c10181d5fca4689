/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

#define SPLICE_MAX ((size_t)64 * 1024)
#define LEND_SLOTS 16

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
	p->error = 0;
	p->last = p->end = 0;
	p->start = p->len = p->lent = p->told = 0;
	p->tail = NULL;
	p->log = NULL;
	p->keys = NULL;
	p->mode = PUMP_COPY;
	if (in < 0 || out < 0)
		pump_close(p);
	else if (is_pipe(in) && takes_splice(out))
		p->mode = PUMP_SPLICE;
}

void pump_log(struct pump *p, struct output_log *log)
{
	p->log = log;
	p->mode = PUMP_COPY;
}

void pump_watch(struct pump *p)
{
	p->mode = PUMP_COPY;
}

int pump_lend(struct pump *p, int in, int *ret_out, struct fault *f)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "create a pipe");
	if (fcntl(fd[1], F_SETFL, O_NONBLOCK) < 0) {
		int r = fault_errno(f, errno, "pipe for standard input");

		(void)fd_close(fd[0]);
		(void)fd_close(fd[1]);
		return r;
	}
	pump_init(p, in, false, fd[1], true);
	p->mode = PUMP_LEND;
	*ret_out = fd[0];
	return 0;
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

/* Removes N bytes from IN, because they were read from OUT. */
static void take(struct pump *p, size_t n)
{
	while (n > 0) {
		struct pollfd there = { .fd = p->in, .events = POLLIN };
		ssize_t got;

		/* Another reader of IN may have been faster: do not wait. */
		if (poll(&there, 1, 0) <= 0 || !(there.revents & POLLIN))
			return;
		got = read(p->in, p->buffer, n < sizeof(p->buffer) ? n : sizeof(p->buffer));
		if (got <= 0)
			return;
		n -= (size_t)got;
	}
}

/* The reader may have written to OUT itself: never count more than was lent. */
static void settle(struct pump *p)
{
	int unread = 0;
	size_t n;

	if (p->lent == 0 || p->in < 0 || p->out < 0 || ioctl(p->out, FIONREAD, &unread) < 0 || unread < 0)
		return;
	n = (size_t)unread < p->lent ? p->lent - (size_t)unread : 0;
	p->lent -= n;
	take(p, n);
}

void pump_close(struct pump *p)
{
	if (p->mode == PUMP_LEND)
		settle(p);
	p->lent = 0;
	close_in(p);
	if (p->own_out)
		(void)fd_close(p->out);
	p->out = -EBADF;
	p->start = p->len = 0;
}

/*
 * While waiting for input, OUT is polled for errors only: when its reader closes it the writer sees that at once, not
 * with its next byte.
 */
void pump_poll(const struct pump *p, struct pollfd ret[2])
{
	bool waiting = p->full || p->len > 0 || p->lent > 0;

	ret[0] = (struct pollfd){ .fd = pump_is_over(p) || waiting ? -1 : p->in, .events = POLLIN };
	ret[1] = (struct pollfd){ .fd = pump_is_over(p) ? -1 : p->out, .events = waiting ? POLLOUT : 0 };
}

/* Nothing more can be delivered.  Closing IN lets the writer see it (EPIPE, SIGPIPE). */
static void give_up(struct pump *p)
{
	pump_close(p);
}

/* A reader that closed its end is no error; a full disk is. */
static void fail(struct pump *p, int error)
{
	p->error = error == EPIPE ? 0 : error;
	give_up(p);
}

static void finish(struct pump *p)
{
	close_in(p);
	if (p->end) {
		p->start = 0;
		p->len = p->last == 0 || p->last == '\n' ? 1 : 2;
		memset(p->buffer, p->end, p->len);
		p->end = 0;
	}
	if (p->len == 0)
		pump_close(p);
}

/* How much may move now: the bytes that the tail has, or everything without a tail. */
static size_t tell(struct pump *p)
{
	if (p->tail && p->told == 0)
		p->told = tail_tee(p->tail, p->in, SPLICE_MAX);
	return p->told ? p->told : SPLICE_MAX;
}

static void step_splice(struct pump *p)
{
	ssize_t n = splice(p->in, NULL, p->out, NULL, tell(p), SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	p->full = false;
	if (n > 0)
		p->told -= (size_t)n < p->told ? (size_t)n : p->told;
	if (n == 0) {
		finish(p);
	} else if (n < 0 && errno == EINVAL) {
		/* A file opened for appending, for example. */
		p->mode = PUMP_COPY;
	} else if (n < 0 && errno == EAGAIN) {
		p->full = true;
	} else if (n < 0 && errno != EINTR) {
		fail(p, errno);
	}
}

/*
 * Reads OUT back through a read end that is opened only now: kept open it would hide that the reader closed its own.
 * One read takes all bytes or none, so the reader has read the rest.
 */
static void take_back(struct pump *p)
{
	char path[32], bytes[(LEND_SLOTS + 1) * PUMP_BUFFER];
	_cleanup_close_ int fd = -EBADF;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", p->out);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	take(p, n > 0 && (size_t)n < p->lent ? p->lent - (size_t)n : n > 0 ? 0 : p->lent);
	p->lent = 0;
}

/*
 * tee() starts at the first byte of IN each time, so a piece is lent when the last one was read. poll reports when a
 * pipe is no longer full, not when it is empty: so OUT is always filled.  It has one slot, or sixteen when IN holds
 * enough for certain, because a slot holds at most a page.
 */
static void step_lend(struct pump *p)
{
	int there = 0;
	ssize_t n;

	settle(p);
	if (p->lent > 0)
		take_back(p);
	p->full = false;
	if (ioctl(p->in, FIONREAD, &there) < 0 ||
	    fcntl(p->out, F_SETPIPE_SZ, there >= LEND_SLOTS * PUMP_BUFFER ? LEND_SLOTS * PUMP_BUFFER : 1) <
		    0) {
		give_up(p);
		return;
	}
	n = tee(p->in, p->out, SPLICE_MAX, SPLICE_F_NONBLOCK);
	if (n > 0)
		p->lent = (size_t)n;
	else if (n == 0)
		finish(p);
	else if (errno == EAGAIN)
		p->full = poll(&(struct pollfd){ .fd = p->out, .events = POLLOUT }, 1, 0) == 0;
	else if (errno != EINTR)
		give_up(p);
}

static ssize_t write_some(struct pump *p)
{
	const char *bytes = p->buffer + p->start;
	ssize_t n;

	if (p->log) {
		output_log_add(p->log, bytes, p->len);
		return (ssize_t)p->len;
	}
	n = send(p->out, bytes, p->len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno == ENOTSOCK)
		n = write(p->out, bytes, p->len);
	return n;
}

static void flush(struct pump *p)
{
	ssize_t n = write_some(p);

	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			fail(p, errno);
		return;
	}
	if (n > 0)
		p->last = p->buffer[p->start + (size_t)n - 1];
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
	/* EIO: the last slave of the pty was closed. */
	if (n <= 0) {
		finish(p);
		return;
	}
	p->start = 0;
	p->len = (size_t)n;
	if (p->keys)
		interrupt_keys_note(p->keys, p->buffer, p->len, clock_boot_ns());
	/* After a change from splice to copy the tail has some of it already. */
	if (p->tail && p->told < p->len)
		tail_add(p->tail, p->buffer + p->told, p->len - p->told);
	p->told -= p->told < p->len ? p->told : p->len;
}

void pump_step(struct pump *p, const struct pollfd polled[2])
{
	if (pump_is_over(p))
		return;
	if (polled[1].revents & (POLLERR | POLLNVAL)) {
		give_up(p);
		return;
	}
	if (p->mode == PUMP_LEND) {
		if (polled[0].revents || (polled[1].revents & POLLOUT))
			step_lend(p);
	} else if (p->len > 0 && (polled[1].revents & POLLOUT)) {
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
			/* Nothing to read and no writer left, or no space in OUT. */
			if (p->full || p->len > 0)
				return false;
			pump_close(p);
			break;
		}
		pump_step(p, polled);
	}
	return true;
}
