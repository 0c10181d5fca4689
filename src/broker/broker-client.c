/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "broker/broker-impl.h"

#define MS UINT64_C(1000000)

void broker_client_close(struct broker_client *c)
{
	if (c->process.pid > 0) {
		broker_process_kill(&c->process);
		(void)broker_process_reap(&c->process);
	}
	c->fd = fd_close(c->fd);
	free(c->in);
	broker_tool_forget(c);
	strbuf_done(&c->out);
	*c = (struct broker_client){ .fd = -EBADF, .process = BROKER_PROCESS_NONE };
}

/* The oldest connection that has not shown the token: the others keep theirs however many come. */
static struct broker_client *find_place(struct broker_server *s)
{
	struct broker_client *oldest = NULL;

	for (size_t i = 0; i < BROKER_CLIENTS; i++) {
		struct broker_client *c = &s->clients[i];

		if (c->state == BROKER_FREE)
			return c;
		if (!c->known && (!oldest || c->born_ns < oldest->born_ns))
			oldest = c;
	}
	if (oldest)
		broker_client_close(oldest);
	return oldest;
}

void broker_client_poll(const struct broker_client *c, struct pollfd p[BROKER_POLLS])
{
	const bool runs = c->state == BROKER_RUNNING;

	p[BROKER_POLL_SOCKET] = (struct pollfd){ .fd = -1 };
	if (c->state == BROKER_READING)
		p[BROKER_POLL_SOCKET] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
	if (c->state == BROKER_WRITING)
		p[BROKER_POLL_SOCKET] = (struct pollfd){ .fd = c->fd, .events = POLLOUT };
	/* POLLHUP alone: a client that is gone ends its tool. */
	if (runs && !c->failed)
		p[BROKER_POLL_SOCKET] = (struct pollfd){ .fd = c->fd };
	p[BROKER_POLL_END] = (struct pollfd){ .fd = runs ? c->process.pidfd : -1, .events = POLLIN };
	p[BROKER_POLL_IN] = (struct pollfd){ .fd = runs ? c->process.in : -1, .events = POLLOUT };
	p[BROKER_POLL_OUT] = (struct pollfd){ .fd = runs ? c->process.out : -1, .events = POLLIN };
}

/* One complete line at C->in_at; the bytes behind it are the next request. */
static void take_line(struct broker_server *s, struct broker_client *c)
{
	char *line = c->in + c->in_at, *end;
	size_t left = c->in_len - c->in_at, len;

	end = memchr(line, '\n', left);
	len = end ? (size_t)(end - line) : left;
	if (!end && left <= BROKER_LINE_MAX && !c->at_end)
		return;
	if (!end && left == 0) {
		broker_client_close(c);
		return;
	}
	c->line_ns = clock_boot_ns();
	if (len > BROKER_LINE_MAX || !end) {
		c->last = true;
		broker_refuse_peer(s, c, "request",
				   end || len > BROKER_LINE_MAX ? "request: the line is too long"
								: "request: the line has no end");
		return;
	}
	c->in_at += len + 1;
	broker_call(s, c, line, len);
}

/* A reply that need not wait, and a further request behind it: their replies are sent together. */
static bool goes_on(const struct broker_server *s, const struct broker_client *c)
{
	return c->state == BROKER_HOLDING && c->until_ns <= c->line_ns && !c->last && !c->out.broken &&
	       c->out.len < BROKER_REPLIES_MAX && s->n_pending < BROKER_PENDING_MAX - 2 &&
	       memchr(c->in + c->in_at, '\n', c->in_len - c->in_at);
}

static void take_lines(struct broker_server *s, struct broker_client *c)
{
	do {
		c->state = BROKER_READING;
		take_line(s, c);
	} while (goes_on(s, c));
}

/* The unread bytes of the buffer begin at its start; nothing of a request stays behind them. */
static void move_up(struct broker_client *c)
{
	if (c->in_at == 0)
		return;
	memmove(c->in, c->in + c->in_at, c->in_len - c->in_at);
	explicit_bzero(c->in + c->in_len - c->in_at, c->in_at);
	c->in_len -= c->in_at;
	c->in_at = 0;
}

/* No room for descriptors: the kernel drops those that are sent, and says so. */
static ssize_t receive(struct broker_client *c, bool *ret_fds)
{
	struct iovec io = { c->in + c->in_len, BROKER_LINE_MAX + 1 - c->in_len };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1 };
	ssize_t n = recvmsg(c->fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*ret_fds = n >= 0 && h.msg_flags & MSG_CTRUNC;
	return n;
}

static void read_more(struct broker_server *s, struct broker_client *c)
{
	bool fds;
	ssize_t n;

	if (!c->in)
		c->in = malloc(BROKER_LINE_MAX + 1);
	if (c->in)
		move_up(c);
	n = c->in ? receive(c, &fds) : -1;
	if (n < 0 && c->in && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		broker_client_close(c);
		return;
	}
	if (fds) {
		c->last = true;
		c->line_ns = clock_boot_ns();
		broker_refuse_peer(s, c, "descriptors", "request: descriptors are not accepted");
		return;
	}
	c->at_end = n == 0;
	if (c->in_len == 0)
		c->line_ns = clock_boot_ns();
	c->in_len += (size_t)n;
	take_lines(s, c);
}

void broker_client_open(struct broker_server *s, int fd)
{
	struct broker_client *c = find_place(s);

	if (!c) {
		(void)fd_close(fd);
		return;
	}
	*c = (struct broker_client){
		.state = BROKER_READING, .fd = fd, .born_ns = clock_boot_ns(), .process = BROKER_PROCESS_NONE
	};
	c->peer = broker_peers_has(&s->peers, fd);
	if (!c->peer) {
		c->line_ns = c->born_ns;
		broker_refuse_peer(s, c, broker_step_name(BROKER_PEER), "not a process of this session");
		return;
	}
	read_more(s, c);
}

static void read_on(struct broker_server *s, struct broker_client *c)
{
	if (c->last || c->at_end) {
		broker_client_close(c);
		return;
	}
	c->state = BROKER_READING;
	c->line_ns = c->in_len > c->in_at ? clock_boot_ns() : 0;
	if (c->in_len > c->in_at)
		take_lines(s, c);
	/* Idle connections hold no buffer. */
	if (c->state == BROKER_READING && c->in_len == c->in_at) {
		free(c->in);
		c->in = NULL;
		c->in_len = c->in_at = 0;
	}
}

static void write_more(struct broker_server *s, struct broker_client *c)
{
	ssize_t n = send(c->fd, c->out.text + c->out_at, c->out.len - c->out_at, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		broker_client_close(c);
		return;
	}
	c->out_at += (size_t)n;
	if (c->out_at < c->out.len)
		return;
	strbuf_done(&c->out);
	c->out_at = 0;
	read_on(s, c);
}

void broker_client_reply(const struct broker_server *s, struct broker_client *c, uint64_t backoff_ms)
{
	const uint64_t floor = s->job->tools->delay_ms;

	if (c->out.broken) {
		strbuf_done(&c->out);
		broker_reply_refusal(&c->out, "failed", "out of memory");
	}
	c->state = BROKER_HOLDING;
	c->until_ns = c->line_ns + (backoff_ms > floor ? backoff_ms : floor) * MS;
}

static void step_tool(struct broker_server *s, struct broker_client *c, const struct pollfd p[BROKER_POLLS])
{
	if (p[BROKER_POLL_SOCKET].revents & (POLLHUP | POLLERR)) {
		c->failed = "gone";
		broker_process_kill(&c->process);
	}
	if (p[BROKER_POLL_IN].revents)
		broker_tool_feed(c);
	if (p[BROKER_POLL_OUT].revents)
		broker_tool_drain(c);
	if (p[BROKER_POLL_END].revents)
		broker_call_end(s, c);
}

void broker_client_step(struct broker_server *s, struct broker_client *c, const struct pollfd p[BROKER_POLLS])
{
	/* A connection that was opened since the poll has another descriptor, or the same one with nothing to read yet. */
	if (c->state == BROKER_RUNNING)
		step_tool(s, c, p);
	else if (p[BROKER_POLL_SOCKET].revents && c->state == BROKER_READING)
		read_more(s, c);
	else if (p[BROKER_POLL_SOCKET].revents && c->state == BROKER_WRITING)
		write_more(s, c);
}

uint64_t broker_client_due(const struct broker_client *c)
{
	if (c->state == BROKER_READING)
		return c->line_ns ? c->line_ns + BROKER_REQUEST_MS * MS : 0;
	return c->state == BROKER_FREE ? 0 : c->until_ns;
}

void broker_client_on_time(struct broker_server *s, struct broker_client *c)
{
	switch (c->state) {
	case BROKER_FREE:
		break;
	case BROKER_READING:
		c->line_ns = clock_boot_ns();
		c->last = true;
		broker_refuse_peer(s, c, "request", "request: it was not complete in time");
		break;
	case BROKER_RUNNING:
		c->until_ns = 0;
		c->failed = "timeout";
		broker_process_kill(&c->process);
		break;
	case BROKER_HOLDING:
		c->state = BROKER_WRITING;
		c->until_ns = clock_boot_ns() + BROKER_REQUEST_MS * MS;
		write_more(s, c);
		break;
	case BROKER_WRITING:
		broker_client_close(c);
		break;
	}
}
