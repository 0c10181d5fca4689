/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-audit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/process.h"
#include "base/str.h"
#include "config/config.h"
#include "container/container-info.h"
#include "container/container-lost.h"
#include "container/warden-handover.h"
#include "container/warden-request.h"

#define WAIT_NS (UINT64_C(2) * 1000000000)
#define LOOK_NS 1000000

void container_audit_begin(struct container_audit *a)
{
	a->deadline = clock_boot_ns() + WAIT_NS;
}

bool container_audit_has(const struct container_audit *a, const char *name)
{
	return faccessat(a->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The caller is not trusted: a running container has no end. */
static bool is_alive(const struct container_info *d)
{
	uint64_t start = 0;
	int r = process_start_time(d->pid, &start);

	return r < 0 || (r == 1 && start == d->start);
}

static int record_lost(const struct container_audit *a, struct fault *f)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	struct config *config = NULL;
	int r;

	r = config_load(a->dirs, &config, f);
	if (r >= 0)
		r = ledger_open(a->dirs->state, NULL, &l, NULL, f);
	if (r >= 0)
		r = container_lost_close(
			&(struct container_lost){
				.dirs = a->dirs,
				.config = config,
				.session = a->session,
				.dir = a->dir,
				.source = EXIT_SOURCE_AUDIT,
				.held = WARDEN_HELD_NONE,
				.why = "custody-warden was killed before the container exited, "
				       "and with it the descriptors of the worktree" },
			l, f);
	config_free(config);
	return r < 0 ? r : 0;
}

/* We hold the session's lock: the container has no warden any more. */
static int finish(struct container_audit *a, const struct container_info *d, struct fault *f)
{
	struct stat st;
	int r = 0;

	if (fstat(a->dir, &st) < 0 || st.st_nlink == 0)
		return 0;
	if (!container_audit_has(a, WARDEN_EXIT) && is_alive(d))
		return fault_set(f, EBUSY,
				 "container '%s' runs without custody-warden; to clean up: custody recover",
				 a->container);
	if (!container_audit_has(a, WARDEN_EXIT))
		r = record_lost(a, f);
	return r < 0 ? r : path_remove_tree(a->sessions, a->session, f);
}

static void sleep_briefly(void)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
}

static int lock_until(const struct container_audit *a, uint64_t deadline)
{
	while (flock(a->dir, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (clock_boot_ns() >= deadline)
			return -EWOULDBLOCK;
		sleep_briefly();
	}
	return 0;
}

/*
 * A busy warden cleans up by itself: after it has written exit.json it checks for this file.  If exit.json exists already
 * it may have checked too early; then it is exiting, and its lock is released.
 */
static int leave(struct container_audit *a, const struct container_info *d, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(a->dir, WARDEN_AUDITED, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return container_audit_has(a, WARDEN_EXIT) && lock_until(a, clock_boot_ns() + WAIT_NS) == 0
		       ? finish(a, d, f)
		       : 0;
}

static bool runs(const struct container_audit *a, const struct container_info *d)
{
	while (!container_audit_has(a, WARDEN_EXIT) && is_alive(d)) {
		if (!a->killed || clock_boot_ns() >= a->deadline)
			return true;
		sleep_briefly();
	}
	return false;
}

int container_audit_close(struct container_audit *a, struct fault *f)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	int r;

	r = container_info_read(a->dir, &d, f);
	if (r < 0)
		return r;
	/* Two containers may have the same id, in two state directories of a runtime: this is the other one. */
	if (!str_eq(d.container, a->container) || runs(a, &d))
		return 0;
	r = lock_until(a, a->deadline);
	if (r == -EWOULDBLOCK)
		return leave(a, &d, f);
	if (r < 0)
		return fault_errno(f, -r, "lock session '%s'", a->session);
	return finish(a, &d, f);
}
