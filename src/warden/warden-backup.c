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

#define DEATH_MS 10000 /* a killed process that has not exited by then hangs in the kernel */
#define MESSAGE_DONE 'd'

/* False: the first process exited without having recorded the end. */
static bool wait_end(int fd, struct warden_held *held)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		char byte = 0;
		ssize_t n;

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return false;
		n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
		if (n == 0)
			return false;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n == 1 && byte == MESSAGE_DONE)
			return true;
		if (n == 1 && warden_handover_receive(fd, held, NULL) < 0)
			return false;
	}
}

static void kill_container(void)
{
	struct pollfd p = { .fd = WARDEN_PIDFD, .events = POLLIN };

	(void)syscall(SYS_pidfd_send_signal, WARDEN_PIDFD, SIGKILL, NULL, 0);
	while (poll(&p, 1, DEATH_MS) < 0 && errno == EINTR)
		;
}

static int take_over(const struct warden_request *rq, const struct warden_held *held, struct fault *f)
{
	_cleanup_dirs_ struct dirs dirs = { 0 };
	_cleanup_ledger_ struct ledger *l = NULL;
	struct config *config = NULL;
	const struct ledger_end end = session_end_lost(EXIT_SOURCE_BACKUP);
	const struct warden_exit e = { .end = &end, .session = rq->session, .container = rq->container };
	int r;

	kill_container();
	/* We share its lock: while we hold it no process can record the end, not even this one. */
	(void)close(WARDEN_CLAIM);
	r = dirs_load_lane(rq->lane, &dirs, f);
	if (r >= 0)
		r = config_load(&dirs, &config, f);
	if (r >= 0)
		r = ledger_open(dirs.state, NULL, &l, NULL, f);
	if (r >= 0)
		r = container_lost_close(
			&(struct container_lost){
				.dirs = &dirs,
				.config = config,
				.session = rq->session,
				.dir = WARDEN_SESSION,
				.source = EXIT_SOURCE_BACKUP,
				.held = *held,
				.why = "custody-hook did not pass the worktree descriptors" },
			l, f);
	/* 0: the end was recorded already, and exit.json written. */
	if (r > 0)
		r = warden_exit_write(&e, f);
	if (r >= 0)
		warden_exit_clean(&dirs, rq->session);
	config_free(config);
	return r;
}

static _Noreturn void wait_and_replace(int fd, const struct warden_request *rq, struct warden_held held)
{
	/* Both belong to the first process, whose exit closes them.  WARDEN_CALL has the same number. */
	(void)close(WARDEN_HANDOVER);
	(void)close(WARDEN_CHANNEL);
	/* Calls must fail once the broker is killed with the first process. */
	if (rq->broker)
		(void)close(warden_request_broker(rq));
	/* The engine becomes the parent once the first process is killed. */
	if (rq->parent)
		(void)close(warden_request_parent(rq));
	if (!wait_end(fd, &held))
		(void)!take_over(rq, &held, NULL);
	_exit(0);
}

int warden_backup_start(struct warden_backup *k, const struct warden_request *rq,
			const struct warden_held *held, struct fault *f)
{
	int fd[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return fault_errno(f, errno, "socket of the backup process");
	pid = fork();
	if (pid == 0) {
		(void)fd_close(fd[0]);
		wait_and_replace(fd[1], rq, *held);
	}
	(void)fd_close(fd[1]);
	if (pid < 0) {
		(void)fd_close(fd[0]);
		return fault_errno(f, errno, "start the backup process");
	}
	k->fd = fd[0];
	return 0;
}

void warden_backup_hold(struct warden_backup *k, const struct warden_held *h)
{
	/* Without the gate: a container whose warden was killed before its start must not start. */
	const struct warden_held tree = {
		.tree = h->tree, .upper = h->upper, .gate = -EBADF, .gate_dir = -EBADF
	};

	if (k->fd >= 0)
		(void)!warden_handover_send(k->fd, &tree, NULL);
}

void warden_backup_end(struct warden_backup *k)
{
	const char byte = MESSAGE_DONE;

	if (k->fd >= 0)
		(void)!send(k->fd, &byte, 1, MSG_NOSIGNAL);
	k->fd = fd_close(k->fd);
}
