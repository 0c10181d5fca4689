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

/*
 * RUN is empty after a reboot, STATE is not.  A state directory is made after its run directory was locked, so one
 * without a run directory has no living owner.
 */
static int sweep_states(const struct dirs *d, int sessions_fd, struct fault *f)
{
	_cleanup_dir_ DIR *states = open_list(d->state, "sessions");
	const struct dirent *e;
	int n = 0, r;

	while (states && (e = readdir(states))) {
		if (e->d_name[0] == '.' ||
		    faccessat(sessions_fd, e->d_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
			continue;
		r = path_remove_tree(dirfd(states), e->d_name, f);
		if (r < 0)
			return fault_wrap(f, r, "clean up after session '%s'", e->d_name);
		n++;
	}
	return n;
}

int session_sweep(const struct dirs *d, session_release release, void *arg, struct fault *f)
{
	_cleanup_dir_ DIR *sessions = open_list(d->run, "sessions");
	const struct dirent *e;
	int n = 0, r;

	if (!sessions)
		return 0;
	while ((e = readdir(sessions))) {
		if (e->d_name[0] == '.')
			continue;
		r = sweep_one(d, dirfd(sessions), e->d_name, release, arg, f);
		if (r < 0)
			return r;
		n += r;
	}
	r = sweep_states(d, dirfd(sessions), f);
	return r < 0 ? r : n + r;
}
