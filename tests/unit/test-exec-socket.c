/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages between `custody exec` and the supervisor: a wrong number of descriptors is refused, and none is left open. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "session/exec-socket.h"
#include "tap.h"

#define MANY 12
#define UNTOUCHED 0x5a5a5a5a

static int count_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		(void)closedir(d);
	return n;
}

/* Passes N descriptors with LEN bytes of M; not by exec_msg_send(), which has room for those of a request. */
static bool pass(int fd, const struct exec_msg *m, size_t len, size_t n)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(MANY * sizeof(int))];
	} u = { 0 };
	struct iovec io = { (void *)m, len };
	struct msghdr h = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = u.bytes,
			    .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	int fds[MANY] = { 0 };

	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n * sizeof(int)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	return sendmsg(fd, &h, MSG_NOSIGNAL) == (ssize_t)len;
}

static struct exec_msg start_message(int fd)
{
	struct exec_msg m = { 0 };

	/* The header of a real one. */
	(void)!exec_msg_send(fd, &m, EXEC_MSG_START, NULL, 0);
	return m;
}

static void GOV_15_more_descriptors_than_a_request_has_are_refused_and_closed(void)
{
	for (size_t n = 1; n <= MANY; n++) {
		int pair[2], before, r;
		int fds[INIT_EXEC_FDS + 2];
		struct exec_msg m, got = { 0 };
		size_t n_got = 99;

		CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
		m = start_message(pair[0]);
		CHECK(exec_msg_receive(pair[1], &got, fds, &n_got) == 1 && n_got == 0);
		before = count_open();
		for (size_t i = 0; i < INIT_EXEC_FDS + 2; i++)
			fds[i] = UNTOUCHED;
		CHECK(pass(pair[0], &m, sizeof(m), n));
		r = exec_msg_receive(pair[1], &got, fds, &n_got);
		CHECK(fds[INIT_EXEC_FDS] == UNTOUCHED && fds[INIT_EXEC_FDS + 1] == UNTOUCHED);
		CHECK(n <= INIT_EXEC_FDS ? r == 1 && n_got == n : r == -EPROTO && n_got == 0);
		for (size_t i = 0; i < n_got; i++)
			(void)fd_close(fds[i]);
		CHECK(count_open() == before);
		/* A message that is too short keeps none either. */
		CHECK(pass(pair[0], &m, 4, n));
		CHECK(exec_msg_receive(pair[1], &got, fds, &n_got) == -EPROTO && n_got == 0);
		CHECK(count_open() == before);
		(void)close(pair[0]);
		(void)close(pair[1]);
	}
}

TAP_MAIN(T(GOV_15_more_descriptors_than_a_request_has_are_refused_and_closed))
