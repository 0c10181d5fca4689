/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/warden-backup.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "config/config.h"
#include "container/container-lost.h"
#include "ledger/ledger.h"
#include "session/session-end.h"
#include "warden/warden-exit.h"

#define DEATH_MS 10000 /* a killed process that is still there then hangs in the kernel */
#define WORD_DONE 'd'

/* False: whoever was to tell the end is gone without it. */
static bool wait_end(int fd, struct warden_held *held)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char word = 0;
		ssize_t n;

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return false;
		n = recv(fd, &word, 1, MSG_PEEK | MSG_DONTWAIT);
		if (n == 0)
			return false;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n == 1 && word == WORD_DONE)
			return true;
		if (n == 1 && warden_handover_receive(fd, held, NULL) < 0)
			return false;
	}
}

static void end_container(void)
{
	struct pollfd p = { .fd = WARDEN_PIDFD, .events = POLLIN };

	(void)syscall(SYS_pidfd_send_signal, WARDEN_PIDFD, SIGKILL, NULL, 0);
	while (poll(&p, 1, DEATH_MS) < 0 && errno == EINTR)
		;
}

static int take_over(const struct warden_request *o, const struct warden_held *held, struct fault *f)
{
	_cleanup_dirs_ struct dirs dirs = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct config *config = NULL;
	const struct ledger_end end = session_end_lost(EXIT_SOURCE_BACKUP);
	const struct warden_exit e = { .end = &end, .session = o->session, .container = o->container };
	int r;

	end_container();
	/* Its lock is ours as well: as long as we have it nobody can tell the end, not even we. */
	(void)close(WARDEN_CLAIM);
	r = dirs_load_lane(o->lane, &dirs, f);
	if (r >= 0)
		r = config_load(&dirs, &config, f);
	if (r >= 0)
		r = ledger_open(dirs.state, NULL, &l, NULL, f);
	if (r >= 0)
		r = container_lost_close(
			&(struct container_lost){
				.dirs = &dirs,
				.config = config,
				.session = o->session,
				.dir = WARDEN_SESSION,
				.source = EXIT_SOURCE_BACKUP,
				.held = *held,
				.why = "custody-hook did not pass the worktree descriptors" },
			l, f);
	/* 0: it was told, and how it ended stands there. */
	if (r > 0)
		r = warden_exit_write(&e, f);
	if (r >= 0)
		warden_exit_clean(&dirs, o->session);
	config_free(config);
	return r;
}

static _Noreturn void keep(int fd, const struct warden_request *order)
{
	_cleanup_warden_held_ struct warden_held held = WARDEN_HELD_NONE;

	/* A user has few inotify instances, and the door is not ours to answer. */
	(void)close(WARDEN_WATCH);
	(void)close(WARDEN_HANDOVER);
	if (!wait_end(fd, &held))
		(void)!take_over(order, &held, NULL);
	_exit(0);
}

int warden_backup_start(struct warden_backup *k, const struct warden_request *order, struct fault *f)
{
	int fd[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return fault_errno(f, errno, "socket of the keeper");
	pid = fork();
	if (pid == 0) {
		(void)fd_close(fd[0]);
		keep(fd[1], order);
	}
	(void)fd_close(fd[1]);
	if (pid < 0) {
		(void)fd_close(fd[0]);
		return fault_errno(f, errno, "start the keeper");
	}
	k->fd = fd[0];
	return 0;
}

void warden_backup_hold(struct warden_backup *k, const struct warden_held *h)
{
	if (k->fd >= 0)
		(void)!warden_handover_bring(k->fd, h, NULL);
}

void warden_backup_end(struct warden_backup *k)
{
	const char word = WORD_DONE;

	if (k->fd >= 0)
		(void)!send(k->fd, &word, 1, MSG_NOSIGNAL);
	k->fd = fd_close(k->fd);
}
