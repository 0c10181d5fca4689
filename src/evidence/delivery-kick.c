/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/process-detach.h"
#include "evidence/delivery.h"
#include "evidence/evidence-impl.h"

#define BACKOFF_MAX_S UINT64_C(600)

/* Any staged evidence; delivery_run checks its lane. */
static bool has_any(const char *staging)
{
	const struct dirent *e;
	bool found = false;
	DIR *d = opendir(staging);

	while (d && !found && (e = readdir(d)))
		found = evidence_is_name(e->d_name);
	if (d)
		(void)closedir(d);
	return found;
}

/* The delay doubles after each failure.  A clock that was set back does not extend it. */
static bool is_too_early(const struct delivery_state *n)
{
	uint64_t now = clock_wall_us(), wait_s = n->tries < 10 ? UINT64_C(1) << n->tries : BACKOFF_MAX_S;

	wait_s = wait_s < BACKOFF_MAX_S ? wait_s : BACKOFF_MAX_S;
	return n->tries > 0 && now >= n->failed_us && now - n->failed_us < wait_s * 1000000;
}

static _Noreturn void deliver(const struct dirs *d, const struct config *c)
{
	static const unsigned int pause_s[] = { 1, 5, 30, 0 };
	const struct delivery_job job = { .dirs = d, .config = c };

	for (size_t i = 0;; i++) {
		_cleanup_delivery_report_ struct delivery_report report = { 0 };

		if (delivery_run(&job, &report, NULL) < 0 || report.busy || !report.error || !pause_s[i])
			_exit(report.error != NULL);
		(void)clock_nanosleep(CLOCK_BOOTTIME, 0, &(struct timespec){ .tv_sec = pause_s[i] }, NULL);
	}
}

void delivery_kick(const struct dirs *d, const struct config *c)
{
	_cleanup_free_ char *staging = path_join(d->state, DELIVERY_DIR);
	_cleanup_delivery_state_ struct delivery_state note = { 0 };

	if (!staging || !has_any(staging))
		return;
	delivery_state_load(staging, &note);
	if (is_too_early(&note))
		return;
	if (process_detach("custody-deliver", -EBADF) == 0)
		deliver(d, c);
}

/* Lists the directory, too: an operation that hangs in a directory blocks every reader of it. */
static bool can_be_read(const char *store)
{
	DIR *d = opendir(store);

	if (!d)
		return errno == ENOENT;
	while (readdir(d))
		;
	return closedir(d) == 0;
}

bool delivery_answers(const char *store, unsigned int ms)
{
	_cleanup_close_ int fd = -EBADF;
	struct pollfd p = { .events = POLLIN };
	pid_t pid;
	int r;

	pid = fork();
	if (pid == 0) {
		/* A reader of the caller's output must not wait for this process. */
		(void)syscall(SYS_close_range, 0U, ~0U, 0U);
		_exit(!can_be_read(store));
	}
	if (pid < 0)
		return false;
	fd = (int)syscall(SYS_pidfd_open, pid, 0U);
	p.fd = fd;
	do
		r = fd < 0 ? 1 : poll(&p, 1, (int)ms);
	while (r < 0 && errno == EINTR);
	if (r > 0)
		return waitpid(pid, &r, 0) == pid && WIFEXITED(r) && WEXITSTATUS(r) == 0;
	/* It exits when the share answers; not waited for. */
	(void)kill(pid, SIGKILL);
	return false;
}
