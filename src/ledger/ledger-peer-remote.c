/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "ledger/ledger-export-impl.h"
#include "ledger/ledger-peer-sink.h"
#include "ledger/peer-proto.h"

/*
 * Peers of types syslog-tls and https: TLS is spoken by custody-peer, a process of its own, because no TLS library is linked into
 * processes that have the ledger's keys in reach.
 */

static int spawn(const char *path, int far)
{
	char *argv[] = { (char *)PEER_PROGRAM, NULL }, *envp[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;
	int r;

	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&files);
	for (int i = 0; i <= STDERR_FILENO; i++)
		(void)posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
	(void)posix_spawn_file_actions_adddup2(&files, far, PEER_SOCKET_FD);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(&pid, path, &files, &attr, argv, envp);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&files);
	return -r;
}

static int start(const char *path, int *ret, struct fault *f)
{
	_cleanup_close_ int near = -EBADF, far = -EBADF;
	const int room = PEER_MESSAGE_MAX;
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return fault_errno(f, errno, "socket of " PEER_PROGRAM);
	near = pair[0];
	/* Above its number in the child: dup2 of a descriptor to itself would leave it closed there. */
	far = fcntl(pair[1], F_DUPFD_CLOEXEC, PEER_SOCKET_FD + 1);
	(void)fd_close(pair[1]);
	if (far < 0 || fcntl(far, F_SETFL, 0) < 0)
		return fault_errno(f, errno, "socket of " PEER_PROGRAM);
	(void)setsockopt(near, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	r = spawn(path, far);
	if (r == -ENOENT)
		return fault_set(f, ENOENT,
				 "needs '%s': install libcurl4-gnutls-dev, build and install custody again",
				 path);
	if (r < 0)
		return fault_errno(f, -r, "start '%s'", path);
	*ret = TAKE_FD(near);
	return 0;
}

static int read_answer(int fd, uint64_t deadline_ns, struct fault *f)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	const uint64_t now = clock_boot_ns();
	char text[256];
	ssize_t n;

	do
		n = poll(&p, 1, now < deadline_ns ? (int)((deadline_ns - now) / 1000000 + 1) : 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return fault_set(f, ETIMEDOUT, "the peer did not answer in time");
	n = recv(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return fault_set(f, EPIPE, PEER_PROGRAM " has exited");
	text[n] = '\0';
	return text[0] == PEER_ARRIVED ? 0 : fault_set(f, EIO, "%s", text + 1);
}

int remote_confirm(int fd, uint64_t deadline_ns, struct fault *f)
{
	const char question = PEER_CONFIRM;
	int r = sink_send_socket(fd, &question, 1, deadline_ns, f);

	return r < 0 ? r : read_answer(fd, deadline_ns, f);
}

static int configure(int fd, const struct peer *p, uint64_t deadline_ns, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();
	_cleanup_strbuf_ struct strbuf url = { 0 }, text = { 0 };
	int r;

	strbuf_printf(&url, "%s%s", p->type == PEER_HTTPS ? "" : "https://", p->path);
	jdoc_set_string(d, "url", url.broken ? NULL : url.text);
	if (p->ca)
		jdoc_set_string(d, "ca", p->ca);
	if (p->type == PEER_HTTPS)
		jdoc_set_string(d, "content_type",
				p->format == EXPORT_OTLP ? "application/json" : "application/x-ndjson");
	r = jdoc_write(d, JDOC_CANONICAL, &text, f);
	if (r == 0)
		r = sink_send_socket(fd, text.text, text.len, deadline_ns, f);
	return r < 0 ? r : read_answer(fd, deadline_ns, f);
}

int remote_open(const struct peer *p, struct fault *f)
{
	const char *dir = getenv("CUSTODY_LIBEXEC");
	_cleanup_free_ char *path = path_join(dir && *dir == '/' ? dir : PKGLIBEXECDIR, PEER_PROGRAM);
	_cleanup_close_ int fd = -EBADF;
	int r = path ? start(path, &fd, f) : fault_errno(f, ENOMEM, "peer");

	if (r == 0)
		r = configure(fd, p, clock_boot_ns() + PEER_PUSH_MS * UINT64_C(1000000), f);
	return r < 0 ? r : TAKE_FD(fd);
}

void remote_frame(const struct peer *p, const struct record *r, struct strbuf *out)
{
	strbuf_putc(out, PEER_DATA);
	if (p->type == PEER_HTTPS)
		export_record(p->format, r, out);
	else
		syslog_frame(p, r, out);
}
