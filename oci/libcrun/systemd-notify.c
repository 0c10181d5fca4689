/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

/*
 * sd_notify(3) for the static programs: `podman run --sdnotify=container` and units of Type=notify rely on the
 * runtime to pass READY=1 on.  The protocol is one datagram to $NOTIFY_SOCKET, documented as stable.
 */
int sd_notify(int unset_environment, const char *state);
int sd_notify_barrier(int unset_environment, uint64_t timeout_us);

/* The socket, 0 if NOTIFY_SOCKET is not set, or a negative errno. */
static int connect_listener(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	_cleanup_close_ int fd = -EBADF;

	if (!path)
		return 0;
	if ((path[0] != '/' && path[0] != '@') || len < 2 || len >= sizeof(sa.sun_path))
		return -EINVAL;
	memcpy(sa.sun_path, path, len);
	if (path[0] == '@')
		sa.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

static int send_state(const char *state, int pass_fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec text = { .iov_base = (void *)state, .iov_len = strlen(state) };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1 };
	_cleanup_close_ int fd = connect_listener();

	if (fd <= 0)
		return fd_take(&fd);
	if (pass_fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						       .cmsg_type = SCM_RIGHTS,
						       .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &pass_fd, sizeof(int));
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL) < 0 ? -errno : 1;
}

int sd_notify(int unset_environment, const char *state)
{
	int r = send_state(state, -1);

	if (unset_environment)
		(void)unsetenv("NOTIFY_SOCKET");
	return r;
}

/* The service manager closes its copy of the pipe after it has processed all earlier messages. */
int sd_notify_barrier(int unset_environment, uint64_t timeout_us)
{
	_cleanup_close_ int reader = -EBADF, writer = -EBADF;
	struct pollfd p;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	reader = ends[0];
	writer = ends[1];
	r = send_state("BARRIER=1", writer);
	if (unset_environment)
		(void)unsetenv("NOTIFY_SOCKET");
	if (r <= 0)
		return r;
	(void)fd_close(TAKE_FD(writer));
	p = (struct pollfd){ .fd = reader };
	r = poll(&p, 1, (int)(timeout_us / 1000));
	return r < 0 ? -errno : r == 0 ? -ETIMEDOUT : 1;
}
