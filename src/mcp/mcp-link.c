/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "mcp/mcp-link.h"
#include "mcp/mcp-server.h"

#define SOCKET "/run/custody/broker.sock"
#define TOKEN "/run/custody/token"
#define PIECE ((size_t)65536)

static char token[128];

/* At each call, as custody-call does: it is kept nowhere. */
static bool read_token(void)
{
	long n = rt_read_file(TOKEN, token, sizeof(token));

	/* Hex digits only: it goes into a line of JSON. */
	for (long i = 0; i < n; i++)
		if (!strchr("0123456789abcdef", token[i]))
			return false;
	return n > 0;
}

long mcp_link_check(void)
{
	long n = rt_read_file(TOKEN, token, sizeof(token));

	memset(token, 0, sizeof(token));
	return n < 0 ? n : 0;
}

static long connect_broker(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = SOCKET };
	long fd = SYS(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return fd;
	do
		r = SYS(connect, fd, &a, sizeof(a));
	while (r == -EINTR);
	if (r >= 0)
		return fd;
	(void)SYS(close, fd);
	return r;
}

static bool send_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		long n = SYS(sendto, fd, bytes, len, MSG_NOSIGNAL, NULL, 0);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static const char *make_request(struct mcp_buffer *b, const struct mcp_text *body, size_t n)
{
	if (!read_token())
		return "the token of this session cannot be read";
	mcp_buffer_add_word(b, "{\"token\":\"");
	mcp_buffer_add_word(b, token);
	mcp_buffer_add_word(b, "\"");
	memset(token, 0, sizeof(token));
	for (size_t i = 0; i < n; i++)
		mcp_buffer_add_text(b, body[i]);
	mcp_buffer_add_word(b, "}");
	if (b->full)
		return "the arguments are too long: a call has at most 256 KiB";
	b->max++;
	mcp_buffer_add_word(b, "\n");
	return b->full ? "out of memory" : NULL;
}

const char *mcp_link_open(struct mcp_link *l, const struct mcp_text *body, size_t n)
{
	struct mcp_buffer b = { .max = MCP_REQUEST_MAX };
	const char *why = make_request(&b, body, n);
	long fd = why ? -1 : connect_broker();

	if (!why && fd < 0)
		why = "no connection to the broker: the session is ending, or has too many connections";
	/* If this fails, the broker has closed the connection, perhaps behind a refusal. */
	if (!why)
		(void)send_all((int)fd, b.text, b.len);
	if (b.text)
		memset(b.text, 0, b.len);
	mcp_buffer_done(&b);
	if (!why)
		*l = (struct mcp_link){ .fd = (int)fd, .in.max = MCP_LINE_MAX };
	return why;
}

int mcp_link_read(struct mcp_link *l, struct mcp_text *ret)
{
	long n;

	if (!mcp_buffer_reserve(&l->in, PIECE))
		return -1;
	do
		n = SYS(read, l->fd, l->in.text + l->in.len, PIECE);
	while (n == -EINTR);
	if (n <= 0)
		return -1;
	l->in.len += (size_t)n;
	if (l->in.text[l->in.len - 1] != '\n')
		return 0;
	*ret = (struct mcp_text){ l->in.text, l->in.len - 1 };
	return 1;
}

void mcp_link_close(struct mcp_link *l)
{
	if (l->fd > 0)
		(void)SYS(close, l->fd);
	mcp_buffer_done(&l->in);
	l->fd = 0;
}
