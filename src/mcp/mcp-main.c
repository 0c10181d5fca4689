/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/exit-status.h"
#include "mcp/mcp-link.h"
#include "mcp/mcp-server.h"

/* custody-mcp: docs/man/custody-mcp.1.md. */
#define PIECE ((size_t)65536)
#define NO_REPLY "the broker closed the connection without a reply"

struct program {
	struct mcp_server server;
	struct mcp_link links[MCP_CALLS];
	struct mcp_buffer in;
	size_t at; /* the next line begins here */
};

static void say(const char *text, const char *more)
{
	char buffer[256];
	struct line l = LINE(buffer);

	line_put(&l, "custody-mcp: ");
	line_put(&l, text);
	line_put(&l, more);
	if (l.len == sizeof(buffer) - 1)
		l.len--;
	buffer[l.len++] = '\n';
	(void)SYS(write, 2, buffer, l.len);
}

/* --- the broker --------------------------------------------------------------------------------------------------------- */

/* Waits: every other request needs the list as well. */
static const char *ask_list(void *arg, struct mcp_buffer *to)
{
	static const struct mcp_text body = { ",\"list\":\"tools\"", sizeof(",\"list\":\"tools\"") - 1 };
	struct mcp_link l = { 0 };
	const char *why = mcp_link_open(&l, &body, 1);
	struct mcp_text line;
	int r = 0;

	(void)arg;
	if (why)
		return why;
	while (r == 0)
		r = mcp_link_read(&l, &line);
	if (r > 0)
		mcp_buffer_add_text(to, line);
	mcp_link_close(&l);
	return r < 0 ? NO_REPLY : NULL;
}

static const char *send_call(void *arg, size_t slot, struct mcp_text tool, struct mcp_text arguments)
{
	static const char before[] = ",\"tool\":", between[] = ",\"params\":";
	const struct mcp_text body[] = {
		{ before, sizeof(before) - 1 }, tool, { between, sizeof(between) - 1 }, arguments
	};

	return mcp_link_open(&((struct program *)arg)->links[slot], body, ARRAY_SIZE(body));
}

/* The broker ends the tool of a connection that is gone. */
static void drop_call(void *arg, size_t slot)
{
	mcp_link_close(&((struct program *)arg)->links[slot]);
}

/* A batch that goes on may give the slot to its next call at once: so the connection leaves it first. */
static void read_call(struct program *p, size_t slot)
{
	struct mcp_link *l = &p->links[slot], old;
	struct mcp_text line;
	const int r = mcp_link_read(l, &line);

	if (r == 0)
		return;
	old = *l;
	*l = (struct mcp_link){ 0 };
	if (r > 0)
		mcp_server_answer(&p->server, slot, line);
	else
		mcp_server_fail(&p->server, slot, NO_REPLY);
	mcp_link_close(&old);
}

/* --- the client --------------------------------------------------------------------------------------------------------- */

static bool flush(struct program *p)
{
	struct mcp_buffer *out = &p->server.out;
	size_t done = 0;

	while (done < out->len) {
		long n = SYS(write, 1, out->text + done, out->len - done);

		if (n == -EAGAIN) {
			struct pollfd wait = { .fd = 1, .events = POLLOUT };

			(void)SYS(ppoll, &wait, 1, NULL, NULL, 0);
			continue;
		}
		if (n <= 0 && n != -EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	/* Also gives the memory of a long reply back. */
	if (out->len > PIECE)
		mcp_buffer_done(out);
	out->len = 0;
	return true;
}

static const char *find_end(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n')
			return text + i;
	return NULL;
}

/* The lines that are complete, as long as the server can take one.  False: the client is gone. */
static bool take_lines(struct program *p)
{
	const char *end;

	while (mcp_server_is_ready(&p->server)) {
		const char *begin = p->in.text + p->at;

		end = p->in.len > p->at ? find_end(begin, p->in.len - p->at) : NULL;
		if (!end)
			break;
		mcp_server_take(&p->server, (struct mcp_text){ begin, (size_t)(end - begin) });
		p->at += (size_t)(end - begin) + 1;
		if (!flush(p))
			return false;
	}
	return true;
}

/* The rest of the last piece begins at the start of the buffer. */
static void move_up(struct program *p)
{
	if (p->at == 0)
		return;
	memmove(p->in.text, p->in.text + p->at, p->in.len - p->at);
	p->in.len -= p->at;
	p->at = 0;
	if (p->in.len == 0 && p->in.room > 4 * PIECE)
		mcp_buffer_done(&p->in);
}

/* False: the end, or a line that is too long, behind which no message could be found. */
static bool read_client(struct program *p, int *status)
{
	long n;

	move_up(p);
	if (!mcp_buffer_reserve(&p->in, PIECE)) {
		say("a message is longer than 8 MiB", "");
		mcp_server_refuse_line(&p->server);
		(void)flush(p);
		*status = STATUS_FAILED;
		return false;
	}
	n = SYS(read, 0, p->in.text + p->in.len, PIECE);
	if (n > 0)
		p->in.len += (size_t)n;
	return n > 0 || n == -EINTR || n == -EAGAIN;
}

static int serve(struct program *p)
{
	struct pollfd fds[MCP_CALLS + 2];
	int status = STATUS_OK;
	long r;

	for (;;) {
		for (size_t i = 0; i < MCP_CALLS; i++)
			fds[i] = (struct pollfd){ .fd = p->server.slots[i].used ? p->links[i].fd : -1,
						  .events = POLLIN };
		fds[MCP_CALLS] =
			(struct pollfd){ .fd = mcp_server_is_ready(&p->server) ? 0 : -1, .events = POLLIN };
		/* For its errors alone: a client that has closed it reads no reply. */
		fds[MCP_CALLS + 1] = (struct pollfd){ .fd = 1 };
		do
			r = SYS(ppoll, fds, ARRAY_SIZE(fds), NULL, NULL, 0);
		while (r == -EINTR);
		if (r < 0)
			return STATUS_FAILED;
		if (fds[MCP_CALLS + 1].revents & (POLLERR | POLLNVAL))
			return STATUS_OK;
		for (size_t i = 0; i < MCP_CALLS; i++)
			if (fds[i].revents)
				read_call(p, i);
		if (!flush(p))
			return STATUS_OK;
		if (fds[MCP_CALLS].revents && !read_client(p, &status))
			return status;
		if (!take_lines(p))
			return STATUS_OK;
	}
}

int init_main(int argc, char **argv, char **envp)
{
	static struct program p;
	const struct mcp_broker broker = {
		.list = ask_list, .call = send_call, .drop = drop_call, .arg = &p
	};
	char reason[64];
	struct line l = LINE(reason);
	long r;

	(void)argv;
	(void)envp;
	if (argc != 1) {
		say("usage: custody-mcp, which is started by a client of MCP", "");
		return STATUS_USAGE;
	}
	r = mcp_link_check();
	if (r < 0) {
		line_put_errno(&l, (int)-r);
		say("this session has no broker: /run/custody/token: ", reason);
		return STATUS_FAILED;
	}
	p.server = (struct mcp_server)MCP_SERVER(broker);
	p.in.max = MCP_LINE_MAX;
	return serve(&p);
}
