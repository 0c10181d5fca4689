/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-gate.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "init/init-rt.h"
#include "layer/init-proto.h"

static int refuse(const char *what, long r, const char *then)
{
	char text[400];
	struct line l = LINE(text);

	line_put(&l, what);
	if (r < 0) {
		line_put(&l, ": ");
		line_put_errno(&l, (int)-r);
	}
	line_put(&l, then);
	rt_print(text);
	return STATUS_FAILED;
}

static long open_socket(void)
{
	const struct timeval wait = { .tv_sec = INIT_GATE_S };
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = INIT_GATE_PATH };
	long fd, r;

	fd = SYS(socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = SYS(setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (r == 0)
		r = SYS(setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (r == 0)
		r = SYS(connect, fd, &a, sizeof(a));
	if (r < 0) {
		(void)SYS(close, fd);
		return r;
	}
	return fd;
}

int gate_connect(void)
{
	long fd = open_socket();

	if (fd < 0)
		(void)refuse("not started: cannot connect to custody-warden at " INIT_GATE_PATH, fd,
			     fd == -EPERM
				     ? "; the seccomp filter must allow socket, connect and setsockopt"
				     : "; it has exited, or the bundle's hooks did not run: run 'custody "
				       "recover' and create the container again");
	return (int)fd;
}

/* read and write, not recvfrom and sendto: no filter of a profile refuses them.  SIGPIPE is blocked. */
static int ask(int fd, struct init_gate_msg *m)
{
	long n;

	*m = (struct init_gate_msg){ .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_READY };
	n = SYS(write, fd, m, sizeof(*m));
	if (n != (long)sizeof(*m))
		return refuse("not started: cannot report to custody-warden", n, "");
	do
		n = SYS(read, fd, m, sizeof(*m));
	while (n == -EINTR);
	if (n == -EAGAIN)
		return refuse("not started: custody-warden did not answer in time", 0, "");
	if (n <= 0)
		return refuse("not started: custody-warden closed the connection", n,
			      "; the reason is in 'custody ledger show'");
	m->text[sizeof(m->text) - 1] = '\0';
	if (n == (long)sizeof(*m) && m->magic == INIT_PROTO_MAGIC && m->type == INIT_MSG_GO)
		return 0;
	if (n == (long)sizeof(*m) && m->magic == INIT_PROTO_MAGIC && m->type == INIT_MSG_REFUSED)
		return refuse("not started: ", 0, m->text);
	return refuse("not started: unexpected message from custody-warden", 0, "");
}

int gate_pass(int fd)
{
	struct init_gate_msg m;
	int status = ask(fd, &m);

	(void)SYS(close, fd);
	return status;
}
