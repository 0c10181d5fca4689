/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-network.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "init/init-release.h"
#include "init/init-rt.h"
#include "layer/init-proto.h"

/*
 * The supervisor joins the namespaces of this process.  An ordinary user may not before init was executed: until then the memory is that
 * of the runtime, whose capabilities belong to the host's user namespace.
 */
static long send_request(struct init_msg *m, int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = m, .iov_len = sizeof(*m) };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	long n;

	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	*m = (struct init_msg){ .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_NETWORK };
	n = SYS(sendmsg, INIT_FD, &h, MSG_NOSIGNAL);
	if (n < 0)
		return n;
	return n == (long)sizeof(*m) ? 0 : -EMSGSIZE;
}

int network_wait(struct init_msg *m)
{
	int fd[2];
	char byte;
	long r = SYS(pipe2, fd, O_CLOEXEC), n;

	if (r < 0)
		return release_fail("--egress: cannot create a pipe", r);
	r = send_request(m, fd[1]);
	(void)SYS(close, fd[1]);
	if (r < 0)
		return release_fail("--egress: cannot ask for the network", r);
	do
		n = SYS(read, fd[0], &byte, 1);
	while (n == -EINTR);
	(void)SYS(close, fd[0]);
	/* End of file: the supervisor has the reason. */
	return n == 1 ? 0 : STATUS_FAILED;
}
