/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-release.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "init/init-pty.h"
#include "init/init-rt.h"

int release_fail(const char *what, long r)
{
	char text[256];
	struct line l = LINE(text);

	line_put(&l, what);
	if (r < 0) {
		line_put(&l, ": ");
		line_put_errno(&l, (int)-r);
	}
	rt_print(text);
	return STATUS_FAILED;
}

/* MASTER < 0: no descriptor is passed. */
static long send_report(struct init_msg *report, int master)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = report, .iov_len = sizeof(*report) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	long r;

	if (master >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)),
				       .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(c), &master, sizeof(master));
	}
	report->magic = INIT_PROTO_MAGIC;
	report->type = INIT_MSG_REPORT;
	r = SYS(sendmsg, INIT_FD, &m, MSG_NOSIGNAL);
	if (r < 0)
		return r;
	return r == (long)sizeof(*report) ? 0 : -EMSGSIZE;
}

/* 1: GO received. 0: the supervisor closed the socket and has reported why. Negative: error. */
static long wait_for_go(struct init_msg *msg)
{
	long n;

	do
		n = SYS(recvfrom, INIT_FD, msg, sizeof(*msg), 0, NULL, NULL);
	while (n == -EINTR);
	if (n <= 0)
		return n;
	if (n < (long)offsetof(struct init_msg, ns) || msg->magic != INIT_PROTO_MAGIC ||
	    msg->type != INIT_MSG_GO)
		return -EPROTO;
	return 1;
}

int release_wait(const struct init_options *o, struct init_msg *msg, struct payload_start *start)
{
	int master = -1;
	long r;

	if (o->tty) {
		r = pty_open(&master, &start->slave);
		if (r < 0)
			return release_fail("cannot open /dev/ptmx", r);
	}
	r = send_report(msg, master);
	if (r < 0)
		return release_fail("cannot report to the supervisor", r);
	if (master >= 0)
		(void)SYS(close, master);
	r = wait_for_go(msg);
	if (r < 0)
		return release_fail("not released by the supervisor", r);
	return r == 1 ? 0 : STATUS_FAILED;
}
