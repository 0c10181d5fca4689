/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/warden-channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"

#define READY 'r'

union rights {
	char room[CMSG_SPACE(WARDEN_FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

int warden_channel_make(int ret[2], struct fault *f)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret) < 0)
		return fault_errno(f, errno, "socket of custody-warden");
	return 0;
}

int warden_channel_send_ready(int fd, struct fault *f)
{
	const char word = READY;

	if (send(fd, &word, 1, MSG_NOSIGNAL) != 1)
		return fault_errno(f, errno, "socket of custody-hook");
	return 0;
}

int warden_channel_wait_ready(int fd, int timeout_ms, struct fault *f)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char word = 0;
	ssize_t n;
	int r;

	do
		r = poll(&p, 1, timeout_ms);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return fault_set(f, ETIMEDOUT, "custody-warden did not report readiness in time");
	n = r < 0 ? -1 : recv(fd, &word, 1, MSG_DONTWAIT);
	if (n < 0)
		return fault_errno(f, errno, "socket of custody-warden");
	if (n == 0)
		return fault_set(f, EPIPE, "custody-warden exited before it was ready");
	return word == READY
		       ? 0
		       : fault_set(f, EPROTO, "unexpected message from custody-warden, expected 'ready'");
}

static int send_text(int fd, const struct strbuf *text, const int *fds, size_t n, struct fault *f)
{
	struct iovec io = { text->text, text->len };
	union rights u = { 0 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = u.room,
			    .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	if (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
		return fault_errno(f, errno, "send the request to custody-warden");
	return 0;
}

int warden_channel_send(int fd, const struct warden_request *order, const int *fds, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	int r;

	r = warden_request_write(order, &text, f);
	if (r >= 0 && text.len >= WARDEN_REQUEST_MAX)
		r = fault_set(f, E2BIG, "request to custody-warden is too long");
	return r < 0 ? r : send_text(fd, &text, fds, warden_request_fds(order), f);
}

/* Stores all received descriptors, also if their number is wrong: the caller can still use the first. */
static bool take_rights(const struct msghdr *m, int fds[WARDEN_FDS_MAX], size_t *ret_n)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return false;
	/* The room for them has no more. */
	*ret_n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(c), *ret_n * sizeof(int));
	return *ret_n >= WARDEN_FDS && !(m->msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

int warden_channel_receive(int fd, struct warden_request *order, int fds[WARDEN_FDS_MAX], struct fault *f)
{
	char text[WARDEN_REQUEST_MAX];
	struct iovec io = { text, sizeof(text) - 1 };
	union rights u;
	/* CMSG_SPACE has room for one more where the number is odd. */
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = u.room,
			    .msg_controllen = CMSG_LEN(WARDEN_FDS_MAX * sizeof(int)) };
	size_t n_fds = 0;
	ssize_t n;
	int r;

	for (int i = 0; i < WARDEN_FDS_MAX; i++)
		fds[i] = -EBADF;
	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	/* ECONNRESET: the hook closed the socket before it read our readiness. */
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return 0;
	if (n < 0)
		return fault_errno(f, errno, "receive the request");
	if (!take_rights(&m, fds, &n_fds))
		return fault_set(f, EPROTO, "request without its descriptors");
	text[n] = '\0';
	r = warden_request_parse(text, order, f);
	if (r < 0)
		return r;
	return n_fds == warden_request_fds(order) ? 1
						  : fault_set(f, EPROTO, "request with other descriptors");
}
