/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/process.h"
#include "base/str.h"
#include "config/config.h"
#include "container/container-lost.h"
#include "container/container-info.h"
#include "container/warden-handover.h"
#include "container/warden-request.h"
#include "oci/bundle/hook-args.h"
#include "oci/hook/hook.h"

/*
 * The caller reports that the container is deleted, and passes its id.  That is not trusted: a session is changed only if
 * its first process has exited.
 *
 * 1. Its warden records the end, with evidence where that is due, and writes exit.json: the hook waits for it, up to 2 s.
 *    Then the session's directory is removed.
 * 2. The warden is still busy, with a large tree for example: it removes the directory itself.
 * 3. The warden was killed: the end is recorded here, as `lost`.
 *
 * The runtime waits for the hook, so only the synced record of 3 may take longer than these 2 s.
 */
#define WAIT_NS (UINT64_C(2) * 1000000000)
#define LOOK_NS 1000000

struct hook_audit {
	const char *container;
	struct hook_args terms;
	struct dirs dirs;
	int sessions; /* RUN/sessions */
	uint64_t deadline;
	/* The current session: */
	const char *id;
	int dir;
};

static void audit_done(struct hook_audit *a)
{
	fd_close(a->sessions);
	dirs_done(&a->dirs);
	hook_args_done(&a->terms);
}

static int locate(struct hook_audit *a, char **args, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	int r = hook_args_parse(args, &a->terms, f);

	if (r >= 0)
		r = hook_args_use_env(&a->terms, f);
	if (r < 0)
		return r;
	r = dirs_load_lane(a->terms.lane, &a->dirs, f);
	if (r < 0)
		return r;
	path = path_join(a->dirs.run, "sessions");
	if (!path)
		return fault_errno(f, ENOMEM, "sessions");
	a->sessions = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (a->sessions < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open '%s'", path);
	return fault_wrap(f, dirs_require_own(a->sessions, path, f), "audit");
}

static bool has(const struct hook_audit *a, const char *name)
{
	return faccessat(a->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Is the current session of this container and this lane? */
static bool is_ours(const struct hook_audit *a)
{
	char name[WARDEN_HANDOVER_SIZE], used[WARDEN_HANDOVER_SIZE];
	enum lane lane;

	warden_handover_name(a->container, false, name);
	warden_handover_name(a->container, true, used);
	return (has(a, name) || has(a, used)) && lane_read_stamp(a->dir, a->id, &lane, NULL) == 1 &&
	       lane == a->terms.lane;
}

/* The caller is not trusted: a running container has no end. */
static bool is_alive(const struct container_info *d)
{
	uint64_t start = 0;
	int r = process_start_time(d->pid, &start);

	return r < 0 || (r == 1 && start == d->start);
}

static int record_lost(const struct hook_audit *a, struct fault *f)
{
	_cleanup_ledger_ struct ledger *l = NULL;
	struct config *config = NULL;
	int r;

	r = config_load(&a->dirs, &config, f);
	if (r >= 0)
		r = ledger_open(a->dirs.state, NULL, &l, NULL, f);
	if (r >= 0)
		r = container_lost_close(
			&(struct container_lost){
				.dirs = &a->dirs,
				.config = config,
				.session = a->id,
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
static int finish(struct hook_audit *a, const struct container_info *d, struct fault *f)
{
	struct stat st;
	int r = 0;

	if (fstat(a->dir, &st) < 0 || st.st_nlink == 0)
		return 0;
	if (!has(a, WARDEN_EXIT) && is_alive(d))
		return fault_set(f, EBUSY,
				 "container '%s' runs without custody-warden; to clean up: custody recover",
				 a->container);
	if (!has(a, WARDEN_EXIT))
		r = record_lost(a, f);
	return r < 0 ? r : path_remove_tree(a->sessions, a->id, f);
}

static void sleep_briefly(void)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
}

static int lock_until(const struct hook_audit *a, uint64_t deadline)
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
static int leave(struct hook_audit *a, const struct container_info *d, struct fault *f)
{
	_cleanup_close_ int fd =
		openat(a->dir, WARDEN_AUDITED, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return has(a, WARDEN_EXIT) && lock_until(a, clock_boot_ns() + WAIT_NS) == 0 ? finish(a, d, f) : 0;
}

static int close_one(struct hook_audit *a, struct fault *f)
{
	_cleanup_container_info_ struct container_info d = { 0 };
	int r;

	r = container_info_read(a->dir, &d, f);
	if (r < 0)
		return r;
	/* Two containers may have the same id, in two state directories of a runtime: this is the other one. */
	if (!str_eq(d.container, a->container) || (!has(a, WARDEN_EXIT) && is_alive(&d)))
		return 0;
	r = lock_until(a, a->deadline);
	if (r == -EWOULDBLOCK)
		return leave(a, &d, f);
	if (r < 0)
		return fault_errno(f, -r, "lock session '%s'", a->id);
	return finish(a, &d, f);
}

static int close_all(struct hook_audit *a, struct fault *f)
{
	_cleanup_dir_ DIR *d = NULL;
	const struct dirent *e;
	int fd = fcntl(a->sessions, F_DUPFD_CLOEXEC, 3), r = 0;

	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		fd_close(fd);
		return fault_errno(f, errno, "read the sessions");
	}
	while (r >= 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		a->id = e->d_name;
		a->dir = openat(a->sessions, a->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (a->dir >= 0 && is_ours(a))
			r = close_one(a, f);
		a->dir = fd_close(a->dir);
	}
	return r;
}

int hook_audit(const struct hook_state *s, char **args, struct fault *f)
{
	_cleanup_(audit_done) struct hook_audit a = { .container = s->id, .sessions = -EBADF, .dir = -EBADF };
	int r;

	a.deadline = clock_boot_ns() + WAIT_NS;
	r = locate(&a, args, f);
	return r < 0 || a.sessions < 0 ? r : close_all(&a, f);
}
