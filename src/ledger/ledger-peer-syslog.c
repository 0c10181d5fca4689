/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "ledger/ledger-export-impl.h"
#include "ledger/ledger-peer-sink.h"

#define FACILITY 13 /* log audit */
#define HOST_SIZE 256
#define MSGID_MAX 32
#define CONNECT_MS PEER_PUSH_MS

/* HOST of "HOST:PORT" or "[HOST]:PORT", without brackets. */
static int split(const char *text, char *host, size_t size, uint64_t *ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	bool bracket = len >= 2 && text[0] == '[' && text[len - 1] == ']';

	if (bracket) {
		text++;
		len -= 2;
	}
	if (len == 0 || len >= size || bracket != (memchr(text, ':', len) != NULL))
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	if (str_to_u64(colon + 1, ret_port) < 0 || *ret_port == 0 || *ret_port > UINT16_MAX)
		return -EINVAL;
	return 0;
}

int syslog_address_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	char host[INET6_ADDRSTRLEN];
	uint64_t port;

	if (split(text, host, sizeof(host), &port) < 0)
		return -EINVAL;
	if (inet_pton(AF_INET, host, &in.sin_addr) == 1) {
		in.sin_port = htons((uint16_t)port);
		memcpy(ret, &in, sizeof(in));
		*ret_len = sizeof(in);
		return 0;
	}
	if (inet_pton(AF_INET6, host, &in6.sin6_addr) != 1)
		return -EINVAL;
	in6.sin6_port = htons((uint16_t)port);
	memcpy(ret, &in6, sizeof(in6));
	*ret_len = sizeof(in6);
	return 0;
}

static int await_connection(int fd, const char *address, struct fault *f)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int error = 0, n;
	socklen_t len = sizeof(error);

	do
		n = poll(&p, 1, CONNECT_MS);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return fault_set(f, ETIMEDOUT, "connect to '%s': no answer", address);
	if (n < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return fault_errno(f, errno, "connect to '%s'", address);
	return error ? fault_errno(f, error, "connect to '%s'", address) : 0;
}

int syslog_open(const struct peer *p, struct fault *f)
{
	const char *address = p->path;
	struct sockaddr_storage addr;
	_cleanup_close_ int fd = -EBADF;
	socklen_t len;
	int r;

	if (syslog_address_parse(address, &addr, &len) < 0)
		return fault_set(f, EINVAL, "'%s' is not an address", address);
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fault_errno(f, errno, "socket");
	if (connect(fd, (const struct sockaddr *)&addr, len) < 0) {
		if (errno != EINPROGRESS)
			return fault_errno(f, errno, "connect to '%s'", address);
		r = await_connection(fd, address, f);
		if (r < 0)
			return r;
	}
	return TAKE_FD(fd);
}

/* Printable ASCII without blanks, as a field of the header; "-" if nothing is left. */
static void put_word(struct strbuf *b, const char *text, size_t len, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < max; i++)
		if (text[i] > ' ' && text[i] < 0x7f) {
			strbuf_putc(b, text[i]);
			n++;
		}
	if (n == 0)
		strbuf_putc(b, '-');
}

static unsigned int priority(const struct record *r)
{
	static const unsigned char severity[] = { [SEVERITY_INFO] = 6,
						  [SEVERITY_LOW] = 5,
						  [SEVERITY_MEDIUM] = 4,
						  [SEVERITY_HIGH] = 3,
						  [SEVERITY_CRITICAL] = 2 };

	return FACILITY * 8 + severity[export_severity_of(export_kind_of(r), export_outcome_of(r))];
}

/* "LENGTH <PRI>1 TIME HOST custody - KIND - LINE" */
void syslog_frame(const struct peer *p, const struct record *r, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf message = { 0 };
	char host[HOST_SIZE] = "";

	(void)gethostname(host, sizeof(host) - 1);
	strbuf_printf(&message, "<%u>1 %.27s ", priority(r), r->t);
	put_word(&message, host, strlen(host), HOST_SIZE);
	strbuf_puts(&message, " custody - ");
	put_word(&message, r->kind.at, r->kind.len, MSGID_MAX);
	strbuf_puts(&message, " - ");
	export_record(p->format, r, &message);
	out->broken |= message.broken || message.len == 0;
	if (out->broken)
		return;
	message.len--; /* the LF: the length ends the message */
	strbuf_number(out, message.len);
	strbuf_putc(out, ' ');
	strbuf_add(out, message.text, message.len);
}
