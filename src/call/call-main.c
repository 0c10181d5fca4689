/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-rt.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/exit-status.h"
#include "call/call-reply.h"

/* custody-call TOOL [JSON|-]: docs/man/custody-call.1.md. */
#define SOCKET "/run/custody/broker.sock"
#define TOKEN "/run/custody/token"
#define PARAMS_MAX ((size_t)255 * 1024)
#define MCP "/run/custody/custody-mcp"
#define USAGE "usage: custody-call TOOL [JSON|-], or custody-call --mcp"

/* Not on the stack: stack clash protection would touch every page of it. */
static char request[PARAMS_MAX + 1024];
static char reply[65536];

static void say(const char *text, const char *more)
{
	char buffer[4600];
	struct line l = LINE(buffer);

	line_put(&l, "custody-call: ");
	line_put(&l, text);
	line_put(&l, more);
	if (l.len == sizeof(buffer) - 1)
		l.len--;
	buffer[l.len++] = '\n';
	(void)SYS(write, 2, buffer, l.len);
}

static void say_errno(const char *text, long r)
{
	char buffer[64];
	struct line l = LINE(buffer);

	line_put_errno(&l, (int)-r);
	say(text, buffer);
}

/* To the socket without SIGPIPE: a refusal that is sent before the request was read can still be. */
static bool put(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		long n = fd > 2 ? SYS(sendto, fd, bytes, len, MSG_NOSIGNAL) : SYS(write, fd, bytes, len);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/* All bytes as they are, unlike line_put_bytes. */
static bool put_all(struct line *l, const char *text, size_t len)
{
	if (len > l->room - l->len)
		return false;
	memcpy(l->text + l->len, text, len);
	l->len += len;
	return true;
}

/* Names of tools have none of the characters that JSON escapes. */
static bool is_name(const char *tool)
{
	for (const char *c = tool; *c; c++)
		if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
			return false;
	return *tool != '\0';
}

static bool read_stdin(struct line *l)
{
	long n;

	do {
		n = SYS(read, 0, l->text + l->len, l->room - l->len);
		if (n > 0)
			l->len += (size_t)n;
	} while ((n > 0 && l->len < l->room) || n == -EINTR);
	return n == 0;
}

/* A line break between two values is a blank; inside a string JSON has none. */
static void join_lines(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n' || text[i] == '\r')
			text[i] = ' ';
}

/* {"token":"...","tool":"...","params":...} */
static int make_request(struct line *l, const char *tool, const char *params)
{
	char token[256];
	long n = rt_read_file(TOKEN, token, sizeof(token));
	size_t begin;
	bool fits;

	if (n < 0) {
		say_errno("this session has no broker: " TOKEN ": ", n);
		return STATUS_FAILED;
	}
	fits = put_all(l, "{\"token\":\"", 10) && put_all(l, token, (size_t)n) &&
	       put_all(l, "\",\"tool\":\"", 10) && put_all(l, tool, strlen(tool)) &&
	       put_all(l, "\",\"params\":", 11);
	begin = l->len;
	if (fits && strcmp(params, "-") == 0)
		fits = read_stdin(l);
	else if (fits)
		fits = put_all(l, params, strlen(params));
	join_lines(l->text + begin, l->len - begin);
	if (fits && put_all(l, "}\n", 2))
		return STATUS_OK;
	say("the parameters are too long", "");
	return STATUS_USAGE;
}

static long open_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = SOCKET };
	long fd = SYS(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return fd;
	r = SYS(connect, fd, &a, sizeof(a));
	if (r >= 0)
		return fd;
	(void)SYS(close, fd);
	return r;
}

static void put_data(void *arg, const char *bytes, size_t len)
{
	bool *broken = arg;

	if (!*broken && len && !put(1, bytes, len))
		*broken = true;
}

static void say_refusal(const char *code, const char *error)
{
	char text[4200];
	struct line l = LINE(text);

	line_put(&l, code);
	line_put(&l, ": ");
	say(text, error);
}

static int read_reply(int fd)
{
	static bool broken;
	static struct call_reply r = { .put = put_data, .arg = &broken };
	const char *error, *code;
	long n;

	do {
		n = SYS(read, fd, reply, sizeof(reply));
		if (n > 0)
			call_reply_feed(&r, reply, (size_t)n);
	} while ((n > 0 && !r.done) || n == -EINTR);
	if (r.data && r.done && !r.bad)
		return put(1, "\n", 1) && !broken ? STATUS_OK : STATUS_FAILED;
	if (!call_reply_refusal(&r, &error, &code)) {
		say("the broker did not answer", "");
		return STATUS_FAILED;
	}
	say_refusal(code, error);
	return STATUS_NO;
}

static int become_mcp(char **envp)
{
	char *argv[] = { (char *)MCP, NULL };

	say_errno("execute " MCP ": ", SYS(execve, MCP, argv, envp));
	return STATUS_FAILED;
}

int init_main(int argc, char **argv, char **envp)
{
	struct line l = LINE(request);
	long fd;
	int status;

	if (argc == 2 && strcmp(argv[1], "--mcp") == 0)
		return become_mcp(envp);
	if (argc < 2 || argc > 3 || !is_name(argv[1]) || argv[1][0] == '-') {
		say(USAGE, "");
		return STATUS_USAGE;
	}
	status = make_request(&l, argv[1], argc == 3 ? argv[2] : "{}");
	if (status != STATUS_OK)
		return status;
	fd = open_socket();
	if (fd < 0) {
		say_errno("connect to " SOCKET ": ", fd);
		return STATUS_FAILED;
	}
	if (!put((int)fd, l.text, l.len))
		say("the broker closed the connection", "");
	return read_reply((int)fd);
}
