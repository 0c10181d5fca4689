/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/warden-call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

#define BACKLOG 128
#define ANSWER_MS 30000 /* as long as a synced record may take on a busy disk */

union rights {
	char room[CMSG_SPACE(WARDEN_CALL_FDS * sizeof(int))];
	struct cmsghdr align;
};

/* A session's path may be longer than sun_path. */
static void set_address(struct sockaddr_un *a, int dirfd)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(a->sun_path, sizeof(a->sun_path), "/proc/self/fd/%d/" WARDEN_CALL_NAME, dirfd);
}

int warden_call_listen(int sessionfd, struct fault *f)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;
	int r;

	set_address(&a, sessionfd);
	/* The mode of the file from its birth: that of the socket. */
	r = fd < 0 || fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    fchmodat(sessionfd, WARDEN_CALL_NAME, 0600, 0) < 0 || listen(fd, BACKLOG) < 0;
	return r ? fault_errno(f, errno, "create the socket of custody-warden") : TAKE_FD(fd);
}

int warden_call_connect(const char *path, struct fault *f)
{
	_cleanup_close_ int dir = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;

	if (dir < 0 || fd < 0)
		return fault_errno(f, errno, "session '%s'", path);
	set_address(&a, dir);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return fault_errno(f, errno, "connect to custody-warden of session '%s'", path);
	return TAKE_FD(fd);
}

int warden_call_send(int fd, const struct warden_call *m, const int fds[WARDEN_CALL_FDS], struct fault *f)
{
	struct iovec io = { (void *)m, sizeof(*m) };
	union rights u = { 0 };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1 };

	if (fds) {
		const size_t size =
			sizeof(int) * (fds[WARDEN_CALL_FDS_MIN] < 0 ? WARDEN_CALL_FDS_MIN : WARDEN_CALL_FDS);
		struct cmsghdr *c;

		h.msg_control = u.room;
		h.msg_controllen = CMSG_SPACE(size);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(c), fds, size);
	}
	if (sendmsg(fd, &h, MSG_NOSIGNAL) != (ssize_t)sizeof(*m))
		return fault_errno(f, errno, "send to custody-warden");
	return 0;
}

/* Stores all received descriptors, also if their number is wrong: the caller closes them. */
static bool take_rights(const struct msghdr *h, int fds[WARDEN_CALL_FDS])
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(h);
	size_t n = 0;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, c ? CMSG_DATA(c) : (unsigned char *)fds, n * sizeof(int));
	return (n == 0 || n >= WARDEN_CALL_FDS_MIN) && !(h->msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

int warden_call_receive(int fd, struct warden_call *ret, int fds[WARDEN_CALL_FDS], struct fault *f)
{
	struct warden_call m = { 0 };
	struct iovec io = { &m, sizeof(m) };
	union rights u;
	/* CMSG_SPACE has room for one more where the number is odd. */
	struct msghdr h = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = u.room,
			    .msg_controllen = CMSG_LEN(WARDEN_CALL_FDS * sizeof(int)) };
	ssize_t n;

	for (int i = 0; i < WARDEN_CALL_FDS; i++)
		fds[i] = -EBADF;
	do
		n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return 0;
	if (n < 0)
		return fault_errno(f, errno, "socket of custody-warden");
	if (!take_rights(&h, fds) || n != (ssize_t)sizeof(m) || m.type <= WARDEN_CALL_NONE ||
	    m.type > WARDEN_CALL_REFUSED || memchr(m.exec, '\0', sizeof(m.exec)) == NULL ||
	    memchr(m.text, '\0', sizeof(m.text)) == NULL)
		return fault_set(f, EPROTO, "unexpected message on the socket of custody-warden");
	*ret = m;
	return 1;
}

static int wait_answer(int fd, struct warden_call *ret, struct fault *f)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int fds[WARDEN_CALL_FDS], r;

	do
		r = poll(&p, 1, ANSWER_MS);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return fault_errno(f, errno, "wait for custody-warden");
	if (r == 0)
		return fault_set(f, ETIMEDOUT, "custody-warden did not answer in time");
	r = warden_call_receive(fd, ret, fds, f);
	for (int i = 0; i < WARDEN_CALL_FDS; i++)
		(void)fd_close(fds[i]);
	if (r == 0)
		return fault_set(f, EPIPE, "custody-warden exited before it answered");
	return r;
}

int warden_call_ask(int fd, const struct warden_call *m, const int fds[WARDEN_CALL_FDS], struct fault *f)
{
	struct warden_call answer;
	int r = warden_call_send(fd, m, fds, f);

	if (r >= 0)
		r = wait_answer(fd, &answer, f);
	if (r < 0)
		return r;
	return answer.type == WARDEN_CALL_OK ? 0 : fault_set(f, EACCES, "%s", answer.text);
}
