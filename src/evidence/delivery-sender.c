/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence/delivery-sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/seam.h"
#include "base/walk.h"
#include "evidence/delivery-copy.h"
#include "evidence/evidence-prune.h"

#define FD_MAX 1024

static void send_message(int fd, const struct delivery_message *m)
{
	ssize_t n;

	do
		n = write(fd, m, sizeof(*m));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*m))
		_exit(1); /* the parent is gone */
}

static void send_alive(void *arg)
{
	send_message(*(int *)arg, &(struct delivery_message){ .type = DELIVERY_MESSAGE_ALIVE });
}

/* Applies retention to the store.  NEED: bytes to free in addition. */
static void prune_store(const struct delivery_sender *s, uint64_t need)
{
	const struct evidence_prune p = {
		.dirs = s->job->dirs, .config = s->job->config, .store = s->store, .need = need
	};

	(void)!evidence_prune(&p, NULL);
}

/* Size of the staged files: an archive is smaller than its tree. */
static uint64_t tree_size(int staged)
{
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	uint64_t sum = 0;

	if (walk_new(staged, 0, &w, NULL) < 0)
		return 0;
	while (walk_next(w, &e, NULL) > 0)
		sum += e.stx.stx_size;
	return sum;
}

static int copy_one(const struct delivery_sender *s, int pipe, const struct evidence_item *e,
		    struct delivery_copied *ret, struct fault *f)
{
	_cleanup_close_ int staged =
		openat(s->staging, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct delivery_copy c = {
		.staged = staged, .session = e->name, .store = s->store, .alive = send_alive, .arg = &pipe
	};
	int r;

	if (staged < 0)
		return fault_errno(f, errno, "open staged '%s'", e->name);
	r = delivery_copy(&c, ret, f);
	if (r != -ENOSPC && r != -EDQUOT)
		return r;
	/* Prune older evidence only if the new one does not fit. */
	send_alive(&pipe);
	prune_store(s, tree_size(staged));
	fault_done(f);
	return delivery_copy(&c, ret, f);
}

/*
 * The error concerns this item, not the share: continue with the others.  Else a payload that leaves more data than the
 * share accepts would block all evidence in the staging directory.
 */
static bool is_item_error(int error)
{
	static const int own[] = { ENOSPC, EDQUOT, EFBIG, ENAMETOOLONG, EINVAL, EILSEQ, EEXIST, ENOENT };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (error == own[i])
			return true;
	return false;
}

static _Noreturn void send_all(const struct delivery_sender *s, int pipe)
{
	bool any = false;

	for (size_t i = 0; i < s->items->n; i++) {
		_cleanup_fault_ struct fault f = { 0 };
		struct delivery_copied done = { 0 };
		struct delivery_message m = { .type = DELIVERY_MESSAGE_DELIVERED, .index = i };

		if (s->skip[i])
			continue;
		if (copy_one(s, pipe, s->items->items + i, &done, &f) < 0) {
			m.type = DELIVERY_MESSAGE_FAILED;
			(void)snprintf(m.text, sizeof(m.text), "%s", fault_text(&f));
		} else {
			any = true;
			m.was_there = done.was_there;
			m.metadata = done.metadata;
			(void)snprintf(m.text, sizeof(m.text), "%s", done.name);
		}
		seam("delivery-copied");
		send_message(pipe, &m);
		/* The other items would fail in the same way; the next try sends them. */
		if (m.type == DELIVERY_MESSAGE_FAILED && !is_item_error(f.code))
			break;
	}
	send_message(pipe, &(struct delivery_message){ .type = DELIVERY_MESSAGE_END });
	if (any)
		prune_store(s, 0);
	_exit(0);
}

/* A hanging child must not keep the caller's output open: its reader would hang, too. */
static void close_inherited(const struct delivery_sender *s, int pipe)
{
	const int keep[] = { s->lock, s->staging, pipe };
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
		(void)dup3(null, fd, 0);
	for (int fd = STDERR_FILENO + 1; fd < FD_MAX; fd++)
		if (fd != keep[0] && fd != keep[1] && fd != keep[2])
			(void)close(fd);
	(void)syscall(SYS_close_range, (unsigned int)FD_MAX, ~0U, 0U);
}

pid_t delivery_sender_start(const struct delivery_sender *s, int *ret_pipe, struct fault *f)
{
	pid_t parent = getpid(), pid;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "create a pipe for the delivery");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		(void)prctl(PR_SET_NAME, "custody-share");
		(void)signal(SIGPIPE, SIG_IGN);
		close_inherited(s, fd[1]);
		send_all(s, fd[1]);
	}
	fd_close(fd[1]);
	if (pid < 0) {
		fd_close(fd[0]);
		return fault_errno(f, errno, "fork");
	}
	*ret_pipe = fd[0];
	return pid;
}

/* A child that cannot be killed is left; it keeps the lock. */
bool delivery_sender_wait(pid_t pid, unsigned int ms)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0U);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0)
		while (poll(&p, 1, (int)ms) < 0 && errno == EINTR)
			;
	return waitpid(pid, NULL, fd >= 0 ? WNOHANG : 0) == pid;
}
