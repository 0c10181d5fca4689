/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "init/init-exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "init/init-payload.h"
#include "init/init-prove.h"
#include "init/init-release.h"
#include "init/init-request.h"
#include "init/init-rt.h"

#define CLOSE_MAX 64

/*
 * A further command.  Rules:
 *
 * 1. PID 1 only receives and forks: it reads nothing of the request, so no request can make it fail.
 * 2. The child is confined since it exists, by the fork.  It MUST prove that all the same, before it executes.
 * 3. It is not dumpable, as PID 1: the payload can neither trace it, nor read its memory, nor take its descriptors.
 * 4. It MUST kill only processes below it.
 */

void exec_close(const int fds[INIT_EXEC_FDS])
{
	for (int i = 0; i < INIT_EXEC_FDS; i++)
		(void)SYS(close, fds[i]);
}

/* Descriptors of another number than expected: none is used. */
static void take_rights(struct msghdr *h, int fds[INIT_EXEC_FDS])
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		int n = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		if (n == INIT_EXEC_FDS && !(h->msg_flags & MSG_CTRUNC)) {
			memcpy(fds, CMSG_DATA(c), INIT_EXEC_FDS * sizeof(int));
			continue;
		}
		for (int i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + (size_t)i * sizeof(int), sizeof(fd));
			(void)SYS(close, fd);
		}
	}
}

long exec_receive(int socket, struct init_msg *msg, int fds[INIT_EXEC_FDS])
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(INIT_EXEC_FDS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = msg, .iov_len = sizeof(*msg) };
	struct msghdr h = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	long n;

	fds[0] = -1;
	n = SYS(recvmsg, socket, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n >= 0)
		take_rights(&h, fds);
	return n;
}

/* Anonymous memory of LEN bytes; NULL: none. */
static void *make_room(size_t len)
{
	long at = SYS(mmap, 0, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

/* A copy: a mapping of the file could shrink under us. */
static long read_request(int fd, struct request *ret)
{
	const size_t room = INIT_EXEC_WORDS_MAX + 2;
	char *text, **words;
	struct stat st;
	size_t len = 0;
	long n;

	n = SYS(fstat, fd, &st);
	if (n < 0)
		return n;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || (size_t)st.st_size > INIT_EXEC_MAX)
		return -EINVAL;
	text = make_room((size_t)st.st_size);
	words = make_room(room * sizeof(*words));
	if (!text || !words)
		return -ENOMEM;
	while (len < (size_t)st.st_size) {
		n = SYS(pread64, fd, text + len, (size_t)st.st_size - len, len);
		if (n <= 0)
			return n < 0 ? n : -EIO;
		len += (size_t)n;
	}
	return request_parse(text, len, words, room, ret) ? 0 : -EPROTO;
}

/* Stdio and the own socket under their numbers; nothing else stays open. */
static long take_descriptors(const int fds[INIT_EXEC_FDS])
{
	long r;

	for (int i = 0; i < 3; i++) {
		r = SYS(dup3, fds[INIT_EXEC_STDIO + i], i, 0);
		if (r < 0)
			return r;
	}
	r = SYS(dup3, fds[INIT_EXEC_SOCKET], INIT_FD, O_CLOEXEC);
	if (r < 0)
		return r;
	/* Older kernels: init has a handful of descriptors, and the proof finds any that is left. */
	if (SYS(close_range, INIT_FD + 1, ~0U, 0) < 0)
		for (int fd = INIT_FD + 1; fd < CLOSE_MAX; fd++)
			(void)SYS(close, fd);
	return 0;
}

/* As init itself was: with a session, not dumpable, all signals blocked. The last two are inherited. */
static long become_leader(void)
{
	long r;

	if (SYS(prctl, PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return -EPERM;
	r = SYS(setsid);
	if (r < 0)
		return r;
	/* Daemons of the command become children of this process, and end with it. */
	return SYS(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

static void send_failure(int socket, struct init_msg *msg, long r)
{
	*msg = (struct init_msg){ .magic = INIT_PROTO_MAGIC, .type = INIT_MSG_EXEC_FAILED, .value = (int)-r };
	(void)SYS(sendto, socket, msg, sizeof(*msg), MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

static int run(const struct init_options *o, struct payload_start *start, struct init_msg *msg)
{
	struct reap reap = { .pipe = -1, .msg = msg, .socket = INIT_FD, .exec = true };
	int status;
	long r;

	/* The message of PID 1 has its proofs, and a proof that is not written again must not count. */
	memset(msg, 0, sizeof(*msg));
	init_prove(o, msg);
	status = release_wait(o, msg, start);
	if (status != 0)
		return status;
	r = reap_signals();
	if (r < 0)
		return release_fail("cannot create a signalfd", r);
	reap.signals = (int)r;
	reap.name = start->command[0];
	reap.payload = payload_start(start, &reap.pipe);
	if (reap.payload < 0) {
		send_failure(INIT_FD, msg, reap.payload);
		return STATUS_NOT_EXECUTABLE;
	}
	if (start->slave >= 0)
		(void)SYS(close, start->slave);
	return reap_run(&reap);
}

static int child_main(const struct reap *r, const int fds[INIT_EXEC_FDS])
{
	static struct init_options options;
	struct payload_start start = { .slave = -1, .core_soft = r->core_soft, .dies_with_us = true };
	struct request request;
	long e;

	e = read_request(fds[INIT_EXEC_REQUEST], &request);
	if (e == 0)
		e = take_descriptors(fds);
	if (e == 0)
		e = become_leader();
	if (e < 0)
		return STATUS_FAILED; /* the closed socket says it */
	options = *r->options;
	options.exec = true;
	options.tty = request.tty;
	options.cwd = request.cwd;
	options.env = request.names;
	options.command = start.command = request.args;
	options.environment = start.environment = request.env;
	start.tty = request.tty;
	return run(&options, &start, r->msg);
}

void exec_fork(const struct reap *r, const int fds[INIT_EXEC_FDS])
{
	long pid = r->options ? SYS(clone, SIGCHLD, 0, 0, 0, 0) : -ENOSYS;

	if (pid == 0)
		rt_exit(child_main(r, fds));
	if (pid < 0)
		send_failure(fds[INIT_EXEC_SOCKET], r->msg, pid);
	exec_close(fds);
}

/* Sends KILL to the children that this process has now.  False: the kernel has no such list. */
static bool kill_children(void)
{
	char path[64], text[4096];
	struct line l = LINE(path);
	long fd, n, pid = 0;

	line_put(&l, "/proc/self/task/");
	line_put_num(&l, SYS(getpid));
	line_put(&l, "/children");
	fd = SYS(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = SYS(read, fd, text, sizeof(text));
	(void)SYS(close, fd);
	/* A number that is cut off at the end has no space behind it. */
	for (long i = 0; i < n; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			pid = pid * 10 + (text[i] - '0');
			continue;
		}
		if (pid > 1)
			(void)SYS(kill, pid, SIGKILL);
		pid = 0;
	}
	return true;
}

void exec_end_below(long payload)
{
	bool listed = true;
	int status;
	long r;

	do {
		listed = kill_children();
		if (!listed && payload > 1)
			(void)SYS(kill, -payload, SIGKILL);
		r = SYS(wait4, -1, &status, __WALL | (listed ? 0 : WNOHANG), NULL);
	} while (r > 0 || r == -EINTR);
}
