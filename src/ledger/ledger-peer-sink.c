/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-peer-sink.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/str.h"

#define LOOK_AGAIN_MS 2 /* poll interval: the kernel has no event for "the peer has read" */

static int connect_to(const char *path, int type, struct fault *f)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -EBADF;

	if (strlen(path) >= sizeof(addr.sun_path))
		return fault_set(f, ENAMETOOLONG, "'%s' is too long for a socket", path);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return fault_errno(f, errno, "connect to '%s'", path);
	return TAKE_FD(fd);
}

static int open_dgram(const struct peer *p, struct fault *f)
{
	return connect_to(p->path, SOCK_DGRAM, f);
}

static int open_stream(const struct peer *p, struct fault *f)
{
	return connect_to(p->path, SOCK_STREAM, f);
}

static int left_ms(uint64_t deadline_ns)
{
	uint64_t now = clock_boot_ns();

	return now >= deadline_ns ? 0 : (int)((deadline_ns - now) / 1000000 + 1);
}

int sink_send_socket(int fd, const char *bytes, size_t len, uint64_t deadline_ns, struct fault *f)
{
	while (len > 0) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
		int wait = left_ms(deadline_ns);

		if (n >= 0) {
			bytes += n;
			len -= (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != ENOBUFS)
			return fault_errno(f, errno, "send");
		if (wait == 0)
			return fault_set(f, ETIMEDOUT, "the peer is too slow");
		(void)poll(&p, 1, wait);
	}
	return 0;
}

/*
 * Read by the peer, not only queued: a queue is lost if its peer dies.  Over TCP the ioctl counts bytes that the other
 * host has not acknowledged; the protocol tells no more.
 */
static int confirm_socket(int fd, uint64_t deadline_ns, struct fault *f)
{
	for (;;) {
		const struct timespec pause = { .tv_nsec = LOOK_AGAIN_MS * 1000000 };
		struct pollfd p = { .fd = fd };
		int waiting = 0;

		if (ioctl(fd, SIOCOUTQ, &waiting) < 0)
			return fault_errno(f, errno, "query the peer's receive queue");
		if (waiting == 0)
			break;
		if (poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR)))
			return fault_set(f, EPIPE,
					 "the peer closed the connection before it had read everything");
		if (left_ms(deadline_ns) == 0)
			return fault_set(f, ETIMEDOUT, "the peer does not read");
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int open_append(const struct peer *p, struct fault *f)
{
	const char *path = p->path;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, EINVAL, "'%s' is not a regular file", path);
	return TAKE_FD(fd);
}

static int send_append(int fd, const char *bytes, size_t len, uint64_t deadline_ns, struct fault *f)
{
	struct stat st;
	int r;

	(void)deadline_ns;
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "fstat");
	r = fd_write_all(fd, bytes, len, f);
	if (r < 0)
		(void)!ftruncate(
			fd,
			st.st_size); /* refused on an append-only file; readers skip a partial checkpoint */
	return r;
}

static int confirm_append(int fd, uint64_t deadline_ns, struct fault *f)
{
	(void)deadline_ns;
	return fdatasync(fd) < 0 ? fault_errno(f, errno, "sync") : 0;
}

/* clang-format off */
static const struct sink_ops sinks[_PEER_TYPE_MAX] = {
	[PEER_DGRAM]  = { open_dgram,  sink_send_socket, confirm_socket, "dgram",  NULL },
	[PEER_STREAM] = { open_stream, sink_send_socket, confirm_socket, "stream", NULL },
	[PEER_APPEND] = { open_append, send_append, confirm_append, "file",   NULL },
	[PEER_SYSLOG] = { syslog_open, sink_send_socket, confirm_socket, "syslog", syslog_frame },
	[PEER_TLS]    = { remote_open, sink_send_socket, remote_confirm, "syslog-tls", remote_frame },
	[PEER_HTTPS]  = { remote_open, sink_send_socket, remote_confirm, "https", remote_frame },
};
/* clang-format on */

const struct sink_ops *sink_of(enum peer_type type)
{
	return &sinks[type];
}

enum peer_type sink_type(const char *name)
{
	for (int i = PEER_NONE + 1; i < _PEER_TYPE_MAX; i++)
		if (str_eq(name, sinks[i].name))
			return (enum peer_type)i;
	return PEER_NONE;
}
