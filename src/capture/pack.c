/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "state/dirs.h"
#include "capture/pack-proto.h"

#define HELPER "custody-pack"
#define BUFFER ((size_t)64 * 1024)

struct pack {
	pid_t pid; /* 0: not started, or reaped */
	int stream;
	uint64_t deadline_ns;
	uint64_t left; /* bytes left of the current file */
	uint64_t strange;
	bool ended, broken;
	size_t n, at; /* of BUFFER: to be sent, or not consumed yet */
	char buffer[BUFFER];
};

static char *helper_path(void)
{
	_cleanup_dirs_ struct dirs d = { 0 };

	return dirs_load(&d, NULL) < 0 ? NULL : path_join(d.libexec, HELPER);
}

bool pack_is_available(void)
{
	_cleanup_free_ char *path = helper_path();

	return path && access(path, X_OK) == 0;
}

/* --- custody-pack --------------------------------------------------------------------------------------------- */

static int spawn(const char *path, const char *verb, int in, int out, pid_t *ret)
{
	char *argv[] = { (char *)HELPER, (char *)verb, NULL };
	char *envp[] = { (char *)"LC_ALL=C", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int r;

	(void)sigemptyset(&none);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	(void)posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(ret, path, &files, &attr, argv, envp);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&files);
	return -r;
}

/* Move ARCHIVE above the standard descriptors, or the first dup2 could close it. */
static int start(const char *verb, int archive, bool writing, struct pack **ret, struct fault *f)
{
	_cleanup_pack_ struct pack *p = calloc(1, sizeof(*p));
	_cleanup_free_ char *path = helper_path();
	_cleanup_close_ int theirs = -EBADF, file = fcntl(archive, F_DUPFD_CLOEXEC, 3), far = -EBADF;
	int pair[2], r;

	if (!p || !path)
		return fault_errno(f, ENOMEM, "evidence");
	p->stream = -EBADF;
	/* A socket: MSG_NOSIGNAL gives EPIPE instead of SIGPIPE when custody-pack is dead. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return fault_errno(f, errno, "start " HELPER);
	p->stream = pair[0];
	theirs = pair[1];
	far = fcntl(theirs, F_DUPFD_CLOEXEC, 3);
	if (file < 0 || far < 0)
		return fault_errno(f, errno, "start " HELPER);
	r = spawn(path, verb, writing ? far : file, writing ? file : far, &p->pid);
	if (r < 0)
		return fault_errno(f, -r, "start '%s'", path);
	*ret = TAKE_PTR(p);
	return 0;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	fd_close(p->stream);
	/* A process that hangs on a dead share cannot be killed: it is left to init. */
	if (p->pid > 0 && kill(p->pid, SIGKILL) == 0 && !p->broken)
		(void)waitpid(p->pid, NULL, 0);
	else if (p->pid > 0)
		(void)waitpid(p->pid, NULL, WNOHANG);
	free(p);
}

static int time_left_ms(const struct pack *p)
{
	uint64_t now = clock_boot_ns(),
		 left = p->deadline_ns > now ? (p->deadline_ns - now) / 1000000 + 1 : 0;

	if (!p->deadline_ns)
		return -1;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static int too_late(struct pack *p, struct fault *f)
{
	p->broken = true;
	return fault_set(f, ETIMEDOUT, "the target does not answer: check that the share is reachable");
}

static int wait_for(struct pack *p, int fd, short events, struct fault *f)
{
	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = events };
		int left = time_left_ms(p), r = poll(&pfd, 1, left);

		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return fault_errno(f, errno, "poll");
		if (left == 0)
			return too_late(p, f);
	}
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

int pack_create(int dirfd, uint64_t deadline_ns, struct pack **ret, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(dirfd, PACK_NAME, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return fault_errno(f, errno, "create " PACK_NAME);
	r = start("pack", fd, true, ret, f);
	if (r == 0)
		(*ret)->deadline_ns = deadline_ns;
	return r;
}

/* Its exit status is the errno of the call that failed. */
static int reap(struct pack *p, struct fault *f)
{
	int status = 0, r;

	if (p->pid <= 0)
		return fault_set(f, EIO, HELPER " is missing");
	/* It never sends: readable means that it closed the stream by exiting. */
	r = wait_for(p, p->stream, POLLIN, f);
	if (r < 0)
		return r;
	if (waitpid(p->pid, &status, 0) < 0)
		return fault_errno(f, errno, "wait for " HELPER);
	p->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return fault_errno(f, WIFEXITED(status) ? WEXITSTATUS(status) : EIO, PACK_NAME " was not written");
}

static int flush(struct pack *p, struct fault *f)
{
	size_t done = 0;
	int r;

	while (done < p->n) {
		ssize_t n = send(p->stream, p->buffer + done, p->n - done, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		if (errno == EPIPE || errno == ECONNRESET) {
			r = reap(p, f); /* it reports the reason */
			return r < 0 ? r : fault_set(f, EIO, HELPER " is truncated");
		}
		if (errno != EAGAIN && errno != EINTR)
			return fault_errno(f, errno, "write " PACK_NAME);
		r = wait_for(p, p->stream, POLLOUT, f);
		if (r < 0)
			return r;
	}
	p->n = 0;
	return 0;
}

static int gather(struct pack *p, const void *bytes, size_t len, struct fault *f)
{
	const char *from = bytes;
	int r = 0;

	while (r == 0 && len > 0) {
		size_t step = BUFFER - p->n < len ? BUFFER - p->n : len;

		memcpy(p->buffer + p->n, from, step);
		p->n += step;
		from += step;
		len -= step;
		if (p->n == BUFFER)
			r = flush(p, f);
	}
	return r;
}

int pack_put(struct pack *p, const struct manifest_entry *e, const char *name, uint64_t size, struct fault *f)
{
	const struct pack_head head = { .size = size,
					.mtime_s = e->mtime_s,
					.mtime_ns = e->mtime_ns,
					.mode = e->mode & 0777,
					.len = (uint32_t)strlen(name),
					.type = PACK_FILE };
	int r;

	if (p->left)
		return fault_set(f, EINVAL, PACK_NAME ": %llu bytes are missing",
				 (unsigned long long)p->left);
	r = gather(p, &head, sizeof(head), f);
	if (r == 0)
		r = gather(p, name, head.len, f);
	p->left = size;
	return r;
}

int pack_data(struct pack *p, const void *bytes, size_t len, struct fault *f)
{
	if (len > p->left)
		return fault_set(f, EINVAL, PACK_NAME ": more bytes than announced");
	p->left -= len;
	return gather(p, bytes, len, f);
}

int pack_finish(struct pack *p, struct fault *f)
{
	const struct pack_head end = { .type = PACK_END };
	int r;

	if (p->left)
		return fault_set(f, EINVAL, PACK_NAME ": %llu bytes are missing",
				 (unsigned long long)p->left);
	r = gather(p, &end, sizeof(end), f);
	if (r == 0)
		r = flush(p, f);
	if (r < 0)
		return r;
	(void)shutdown(p->stream, SHUT_WR);
	return reap(p, f);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

int pack_open(int dirfd, struct pack **ret, struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, PACK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return fault_errno(f, errno, "open " PACK_NAME);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return fault_set(f, EBADMSG, PACK_NAME " is not a regular file");
	return start("unpack", fd, false, ret, f);
}

static bool fill(struct pack *p)
{
	ssize_t n;

	if (p->at < p->n)
		return true;
	do
		n = recv(p->stream, p->buffer, BUFFER, 0);
	while (n < 0 && errno == EINTR);
	p->at = 0;
	p->n = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static bool take(struct pack *p, void *ret, size_t len)
{
	char *to = ret;

	while (len > 0 && fill(p)) {
		size_t step = p->n - p->at < len ? p->n - p->at : len;

		memcpy(to, p->buffer + p->at, step);
		p->at += step;
		to += step;
		len -= step;
	}
	return len == 0;
}

ssize_t pack_read(struct pack *p, void *buffer, size_t len)
{
	size_t step;

	if (p->left == 0 || !fill(p))
		return 0;
	step = p->n - p->at < len ? p->n - p->at : len;
	if (step > p->left)
		step = (size_t)p->left;
	memcpy(buffer, p->buffer + p->at, step);
	p->at += step;
	p->left -= step;
	return (ssize_t)step;
}

static void skip_data(struct pack *p)
{
	char ignored[4096];

	while (pack_read(p, ignored, sizeof(ignored)) > 0)
		;
}

/* 1 and the name of the next file (heap), 0 at PACK_END.  A stream without PACK_END is damaged. */
static int next_file(struct pack *p, char **ret, struct fault *f)
{
	_cleanup_free_ char *name = NULL;
	struct pack_head head;

	*ret = NULL;
	skip_data(p);
	if (p->ended)
		return 0;
	if (p->left || !take(p, &head, sizeof(head)) || head.len > PACK_NAME_MAX) {
		p->ended = p->broken = true;
		return 0;
	}
	if (head.type == PACK_END) {
		p->ended = true;
		return 0;
	}
	name = calloc(1, (size_t)head.len + 1);
	if (!name)
		return fault_errno(f, ENOMEM, "evidence");
	if (!take(p, name, head.len)) {
		p->ended = p->broken = true;
		return 0;
	}
	p->left = head.size;
	*ret = TAKE_PTR(name);
	return 1;
}

int pack_find(struct pack *p, const char *name, uint64_t *ret_size, struct fault *f)
{
	for (;;) {
		_cleanup_free_ char *found = NULL;
		int r = next_file(p, &found, f);

		if (r <= 0)
			return r;
		*ret_size = p->left;
		if (str_eq(found, name))
			return 1;
		p->strange++;
	}
}

int pack_rest(struct pack *p, uint64_t *ret_strange, struct fault *f)
{
	uint64_t size;
	int r = pack_find(p, "", &size, f);

	*ret_strange = p->strange;
	if (r == 0 && p->broken)
		return fault_set(f, EBADMSG, PACK_NAME " cannot be read completely");
	return r;
}
