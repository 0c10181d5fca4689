/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/exec-socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

#define BACKLOG 16

union rights {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(INIT_EXEC_FDS * sizeof(int))];
};

/* A session's path may be longer than sun_path. */
static struct sockaddr_un address(int run_fd)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" EXEC_SOCKET, run_fd);
	return a;
}

int exec_socket_make(int run_fd, struct fault *f)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const struct sockaddr_un a = address(run_fd);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, BACKLOG) < 0)
		return fault_errno(f, errno, "create the socket for 'custody exec'");
	return TAKE_FD(fd);
}

/* A process of a container has another one, whatever uid it has. */
static bool is_in_our_userns(pid_t pid)
{
	char path[48];
	struct stat own, other;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return stat("/proc/self/ns/user", &own) == 0 && stat(path, &other) == 0 &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static bool is_trusted(int fd)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) == 0 && c.uid == geteuid() && c.pid > 0 &&
	       is_in_our_userns(c.pid);
}

int exec_socket_accept(int fd)
{
	_cleanup_close_ int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (peer < 0)
		return -errno;
	return is_trusted(peer) ? TAKE_FD(peer) : -EPERM;
}

int exec_socket_connect(int run_fd, pid_t supervisor, struct fault *f)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const struct sockaddr_un a = address(run_fd);
	struct ucred c;
	socklen_t len = sizeof(c);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return errno == ENOENT
			       ? fault_set(f, ENOENT,
					   "the session has no socket for 'custody exec': an older version "
					   "of custody started it, or its directory is on a file system "
					   "without sockets")
			       : fault_errno(f, errno, "connect to the supervisor");
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) < 0)
		return fault_errno(f, errno, "connect to the supervisor");
	/* Of the process that called listen(). */
	if (c.pid != supervisor || c.uid != geteuid())
		return fault_set(
			f, EPERM,
			"the socket for 'custody exec' is not the supervisor's: nothing was started");
	return TAKE_FD(fd);
}

int exec_msg_send(int fd, struct exec_msg *m, enum exec_msg_type type, const int *fds, size_t n)
{
	union rights u = { 0 };
	struct iovec io = { m, sizeof(*m) };
	struct msghdr h = { .msg_iov = &io, .msg_iovlen = 1 };
	struct cmsghdr *c;

	m->magic = INIT_PROTO_MAGIC;
	m->type = type;
	(void)snprintf(m->version, sizeof(m->version), "%s", PACKAGE_VERSION);
	if (n > 0) {
		h.msg_control = u.bytes;
		h.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof(int)),
				       .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	return sendmsg(fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*m) ? 0 : -errno;
}

/*
 * CMSG_SPACE rounds up, so the kernel may install one descriptor more than FDS has room for: those are closed, and the message is
 * malformed.
 */
static bool take_rights(struct msghdr *h, int fds[INIT_EXEC_FDS], size_t *ret_n)
{
	bool fits = true;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (*ret_n < INIT_EXEC_FDS) {
				fds[(*ret_n)++] = fd;
			} else {
				(void)fd_close(fd);
				fits = false;
			}
		}
	}
	return fits;
}

static bool is_well_formed(struct exec_msg *m)
{
	m->version[sizeof(m->version) - 1] = m->id[sizeof(m->id) - 1] = '\0';
	m->digest[sizeof(m->digest) - 1] = m->text[sizeof(m->text) - 1] = '\0';
	return m->magic == INIT_PROTO_MAGIC && strcmp(m->version, PACKAGE_VERSION) == 0;
}

int exec_msg_receive(int fd, struct exec_msg *m, int fds[INIT_EXEC_FDS], size_t *ret_n)
{
	union rights u;
	struct iovec io = { m, sizeof(*m) };
	struct msghdr h = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = u.bytes, .msg_controllen = sizeof(u.bytes)
	};
	ssize_t n;
	bool fits;

	*ret_n = 0;
	do
		n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	/* ECONNRESET once if the other end closed with a message of ours unread, before its last messages. */
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n <= 0)
		return n < 0 ? -errno : 0;
	fits = take_rights(&h, fds, ret_n);
	if (n == sizeof(*m) && fits && !(h.msg_flags & MSG_CTRUNC) && is_well_formed(m))
		return 1;
	for (size_t i = 0; i < *ret_n; i++)
		(void)fd_close(fds[i]);
	*ret_n = 0;
	return -EPROTO;
}
