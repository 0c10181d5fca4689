/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "core/ledger-claim.h"
#include "core/session.h"

static void dir_closep(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}
#define _cleanup_dir_ _cleanup_(dir_closep)

static DIR *open_list(const char *parent, const char *name)
{
	_cleanup_free_ char *path = path_join(parent, name);
	_cleanup_close_ int fd = -EBADF;
	DIR *d;

	if (!path)
		return NULL;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	d = fdopendir(fd);
	if (d)
		(void)TAKE_FD(fd);
	return d;
}

static int remove_below(const char *parent, const char *name, const char *id, struct fault *f)
{
	_cleanup_dir_ DIR *d = open_list(parent, name);

	return d ? path_remove_tree(dirfd(d), id, f) : 0;
}

/* Returns 1 when ID was stale and is gone. */
static int sweep_one(const struct dirs *d, int sessions_fd, const char *id, session_release release,
		     void *arg, struct fault *f)
{
	_cleanup_close_ int fd = openat(sessions_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum lane lane = d->lane;
	int r;

	/* Gone meanwhile, or alive. */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return 0;
	/* The other lane's dead are its own business.  One without a stamp died before it was anybody's. */
	r = lane_read_stamp(fd, id, &lane, f);
	if (r < 0 || lane != d->lane)
		return r < 0 ? r : 0;
	r = release ? release(arg, id, fd, f) : 0;
	if (r == 0)
		r = remove_below(d->state, "sessions", id, f);
	seam("dead-state-removed");
	if (r == 0)
		r = path_remove_tree(sessions_fd, id, f);
	return r < 0 ? fault_wrap(f, r, "clean up after session '%s'", id) : 1;
}

/* Is there a file PARENT/DIR/ID?  Yes, if nobody can say. */
static bool is_there(const char *parent, const char *dir, const char *id)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s/%s", parent, dir, id) < 0) {
		path = NULL;
		return true;
	}
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* The first fault is told; what else can be cleaned up is. */
struct sweeping {
	int n, error;
	struct fault *f;
};

static void count(struct sweeping *s, int r, struct fault *f)
{
	if (r >= 0) {
		s->n += r;
		return;
	}
	if (s->error == 0) {
		s->error = r;
		if (s->f)
			*s->f = *f;
		*f = (struct fault){ 0 };
	}
	fault_done(f);
}

/*
 * RUN is empty after a reboot, STATE is not.  A state directory is made after its run directory was locked, so one
 * without a run directory has no living owner.  One whose record is still open holds what its evidence is taken from: it
 * stays until that is done.
 */
static void sweep_states(const struct dirs *d, struct sweeping *s)
{
	_cleanup_dir_ DIR *states = open_list(d->state, "sessions");
	const struct dirent *e;

	while (states && (e = readdir(states))) {
		_cleanup_fault_ struct fault f = { 0 };
		int r;

		if (e->d_name[0] == '.' || is_there(d->run, "sessions", e->d_name) ||
		    is_there(d->state, CLAIM_DIR, e->d_name))
			continue;
		r = path_remove_tree(dirfd(states), e->d_name, &f);
		count(s, r < 0 ? fault_wrap(&f, r, "clean up after session '%s'", e->d_name) : 1, &f);
	}
}

int session_sweep(const struct dirs *d, session_release release, void *arg, struct fault *f)
{
	_cleanup_dir_ DIR *sessions = open_list(d->run, "sessions");
	struct sweeping s = { .f = f };
	const struct dirent *e;

	while (sessions && (e = readdir(sessions))) {
		_cleanup_fault_ struct fault one = { 0 };

		if (e->d_name[0] != '.')
			count(&s, sweep_one(d, dirfd(sessions), e->d_name, release, arg, &one), &one);
	}
	sweep_states(d, &s);
	return s.error < 0 ? s.error : s.n;
}
