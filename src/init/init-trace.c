/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-trace.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/socket.h>

#include "init/init-release.h"
#include "init/init-rt.h"
#include "layer/init-proto.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* The descriptor of the filter, or negative errno. */
static long receive(struct init_msg *m)
{
	union control control;
	struct iovec iov = { .iov_base = m, .iov_len = sizeof(*m) };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c;
	long n;
	int fd;

	do
		n = SYS(recvmsg, INIT_FD, &h, MSG_CMSG_CLOEXEC);
	while (n == -EINTR);
	if (n < 0)
		return n;
	c = CMSG_FIRSTHDR(&h);
	if (n < (long)offsetof(struct init_msg, ns) || m->magic != INIT_PROTO_MAGIC ||
	    m->type != INIT_MSG_FILTER || !c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EPROTO;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static long send_listener(struct init_msg *m, int fd, long err)
{
	union control control = { 0 };
	struct iovec iov = { .iov_base = m, .iov_len = sizeof(*m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	long n;

	if (fd >= 0) {
		h.msg_control = control.bytes;
		h.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&h);
		*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
				       .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	*m = (struct init_msg){ .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_LISTENER, .value = (int)err };
	n = SYS(sendmsg, INIT_FD, &h, MSG_NOSIGNAL);
	if (n < 0)
		return n;
	return n == (long)sizeof(*m) ? 0 : -EMSGSIZE;
}

/* The descriptor of the notifications, or negative errno. */
static long install(int fd)
{
	static struct sock_filter insns[BPF_MAXINSNS];
	struct sock_fprog program = { .filter = insns };
	size_t len = 0;
	long n, r;

	do {
		n = SYS(read, fd, (char *)insns + len, sizeof(insns) - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 || n == -EINTR);
	if (n < 0)
		return n;
	program.len = (unsigned short)(len / sizeof(insns[0]));
	/* A caller whose call was received can then only be killed: a signal does not make it ask again and again. */
	r = SYS(seccomp, SECCOMP_SET_MODE_FILTER,
		SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
	if (r == -EINVAL)
		r = SYS(seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	return r;
}

int trace_install(void)
{
	static struct init_msg msg;
	long fd = receive(&msg), listener, r;

	if (fd < 0)
		return release_fail("--trace: cannot receive the filter", fd);
	listener = install((int)fd);
	(void)SYS(close, fd);
	r = send_listener(&msg, (int)listener, listener < 0 ? -listener : 0);
	if (listener < 0)
		return STATUS_FAILED; /* the supervisor says why */
	(void)SYS(close, listener);
	return r < 0 ? release_fail("cannot pass the notifications to the supervisor", r) : 0;
}
