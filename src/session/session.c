/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/str.h"
#include "session/session-aside.h"
#include "session/session-note.h"
#include "session/session-owners.h"
#include "state/state-version.h"

#define SESSION_TRIES 16

/*
 * A block is free iff its byte is not locked: nothing is written or cleaned up, the lock is dropped with its holder.
 * The search begins at random so that 100 concurrent starts do not all try the same bytes.
 */
static int take_ids(struct session *s, const char *run, uid_t wanted, struct fault *f)
{
	_cleanup_free_ char *path = path_join(run, "ids");
	unsigned int start = 0;

	if (!path)
		return fault_errno(f, ENOMEM, "session");
	s->ids_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->ids_fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (getrandom(&start, sizeof(start), GRND_NONBLOCK) < 0)
		start = (unsigned int)getpid();
	if (wanted)
		start = (wanted - SESSION_ID_BASE) / SESSION_IDS;

	for (unsigned int i = 0; i < (wanted ? 1 : SESSION_BLOCKS); i++) {
		unsigned int block = (start + i) % SESSION_BLOCKS;
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = block, .l_len = 1 };

		if (fcntl(s->ids_fd, F_OFD_SETLK, &lock) == 0) {
			s->uid_base = SESSION_ID_BASE + block * SESSION_IDS;
			s->gid_base = s->uid_base;
			s->n_ids = SESSION_IDS;
			return 0;
		}
		if (errno != EAGAIN && errno != EACCES)
			return fault_errno(f, errno, "lock '%s'", path);
	}
	if (wanted)
		return fault_set(f, EBUSY,
				 "the ids of the session to continue are in use by a running session: retry "
				 "when it has ended (custody sessions)");
	return fault_set(f, EAGAIN, "all %u id ranges are in use by running sessions", SESSION_BLOCKS);
}

/*
 * Between mkdir and flock a concurrent sweep may take the lock first and remove the directory. So wait for the lock,
 * and retry if the directory was unlinked.
 */
static int make_run(int sessions_fd, struct session *s, struct fault *f)
{
	for (unsigned int i = 0; i < SESSION_TRIES; i++) {
		_cleanup_close_ int fd = -EBADF;
		struct stat st;

		if (mkdirat(sessions_fd, s->id, 0700) < 0)
			return fault_errno(f, errno, "create session '%s'", s->id);
		seam("session-made");
		fd = openat(sessions_fd, s->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return fault_errno(f, errno, "open session '%s'", s->id);
		if (flock(fd, LOCK_EX) < 0)
			return fault_errno(f, errno, "lock session '%s'", s->id);
		if (fstat(fd, &st) < 0)
			return fault_errno(f, errno, "stat session '%s'", s->id);
		if (st.st_nlink == 0)
			continue;
		s->run_fd = TAKE_FD(fd);
		return 0;
	}
	return fault_set(f, EAGAIN, "cannot create session '%s': removed %d times by a concurrent sweep",
			 s->id, SESSION_TRIES);
}

static int name_paths(struct session *s, const struct dirs *d, struct fault *f)
{
	if (asprintf(&s->run, "%s/sessions/%s", d->run, s->id) < 0)
		s->run = NULL;
	if (asprintf(&s->state, "%s/sessions/%s", d->state, s->id) < 0)
		s->state = NULL;
	s->mount_point = path_join(d->run, "m");
	if (!s->run || !s->state || !s->mount_point)
		return fault_errno(f, ENOMEM, "session");
	return 0;
}

static int make_subdir(int fd, const char *name, mode_t mode, struct fault *f)
{
	if (mkdirat(fd, name, mode) < 0 && errno != EEXIST)
		return fault_errno(f, errno, "create directory '%s'", name);
	return 0;
}

/*
 * chattr +T: its directories are not related.  ext4 then creates them, and their files, in different block groups.  In one group it
 * searches a free inode for each new file among those of all sessions that were removed in the last minutes, which it does
 * not use again so soon: after a few hundred runs that takes longer than the rest of the start.
 */
static void spread(int fd)
{
	int flags;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_TOPDIR_FL)) {
		flags |= FS_TOPDIR_FL;
		(void)ioctl(fd, FS_IOC_SETFLAGS, &flags); /* only some file systems have it */
	}
}

/* BASE/sessions, made if it is missing.  No link: it would lead to the sessions of the other lane. */
static int open_sessions(int base, const char *path, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	bool made = mkdirat(base, "sessions", 0700) == 0;
	int r;

	if (!made && errno != EEXIST)
		return fault_errno(f, errno, "create directory '%s/sessions'", path);
	fd = openat(base, "sessions", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s/sessions'", path);
	if (made)
		spread(fd);
	r = dirs_require_own(fd, "sessions", f);
	return r < 0 ? fault_wrap(f, r, "'%s'", path) : TAKE_FD(fd);
}

static int make_tree(const struct dirs *d, int *ret_sessions, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	/* 0755, not 0700: the mapped ids of a container need search permission to reach the mount point. */
	fd = dirs_open_own(d->run, 0755, f);
	if (fd < 0)
		return fd;
	r = make_subdir(fd, "m", 0755, f);
	if (r < 0)
		return fault_wrap(f, r, "'%s'", d->run);
	r = open_sessions(fd, d->run, f);
	if (r < 0)
		return r;
	*ret_sessions = r;
	return 0;
}

/* Every start of a payload opens a session, so the lane is required here. */
static int require_lane(const struct dirs *d, const struct lane_pass *pass, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	r = lane_pass_require(pass, d->lane, f);
	if (r < 0)
		return r;
	fd = state_open(d, f);
	return fd < 0 ? fd : 0;
}

static bool is_range(uid_t base)
{
	return base >= SESSION_ID_BASE && (base - SESSION_ID_BASE) % SESSION_IDS == 0 &&
	       (base - SESSION_ID_BASE) / SESSION_IDS < SESSION_BLOCKS;
}

int session_open(const struct dirs *d, const struct lane_pass *pass, const char *id, struct session *ret,
		 struct fault *f)
{
	return session_open_with_ids(d, pass, id, 0, ret, f);
}

int session_open_with_ids(const struct dirs *d, const struct lane_pass *pass, const char *id, uid_t uid_base,
			  struct session *ret, struct fault *f)
{
	_cleanup_session_ struct session s = { .run_fd = -EBADF, .ids_fd = -EBADF, .rootless = d->rootless };
	_cleanup_close_ int sessions_fd = -EBADF;
	int r;

	if (strlen(id) >= sizeof(s.id))
		return fault_set(f, EINVAL, "'%s' is not a session id", id);
	memcpy(s.id, id, strlen(id) + 1);
	r = require_lane(d, pass, f);
	if (r < 0)
		return r;
	r = make_tree(d, &sessions_fd, f);
	if (r < 0)
		return r;
	if (s.rootless) {
		s.uid_base = geteuid();
		s.gid_base = getegid();
		s.n_ids = 1;
	} else if (uid_base && !is_range(uid_base)) {
		return fault_set(f, EINVAL, "%u does not begin a range of ids", (unsigned int)uid_base);
	} else {
		r = take_ids(&s, d->run, uid_base, f);
		if (r < 0)
			return r;
	}
	seam("ids-taken");
	r = make_run(sessions_fd, &s, f);
	if (r < 0)
		return r;
	seam("session-locked");
	r = lane_stamp(s.run_fd, d->lane, f);
	if (r == 0)
		r = name_paths(&s, d, f);
	if (r < 0) {
		(void)!path_remove_tree(sessions_fd, s.id, NULL);
		return r;
	}
	seam("session-stamped");
	*ret = s;
	s = (struct session){ .run_fd = -EBADF, .ids_fd = -EBADF };
	return 0;
}

int session_make_dir(const struct dirs *d, const char *id, bool *ret_made, struct fault *f)
{
	_cleanup_close_ int state = dirs_open_own(d->state, 0700, f), fd = -EBADF, dir = -EBADF;
	int r;

	if (state < 0)
		return state;
	fd = open_sessions(state, d->state, f);
	if (fd < 0)
		return fd;
	if (mkdirat(fd, id, 0700) < 0)
		return fault_errno(f, errno, "create '%s/sessions/%s'", d->state, id);
	*ret_made = true;
	seam("state-made");
	dir = openat(fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return fault_errno(f, errno, "open '%s/sessions/%s'", d->state, id);
	r = lane_stamp(dir, d->lane, f);
	return r < 0 ? r : TAKE_FD(dir);
}

int session_make_state(struct session *s, const struct dirs *d, struct fault *f)
{
	_cleanup_close_ int dir = session_make_dir(d, s->id, &s->has_state, f);

	return dir < 0 ? dir : 0;
}

/* NOTED: settle the directory instead of removing it. */
static int remove_named(const char *parent, const char *id, bool noted, struct fault *f)
{
	_cleanup_close_ int fd = open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), dir = -EBADF;
	int r = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "open '%s'", parent);
	if (noted)
		return session_note_settle(fd, id, f);
	dir = openat(fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		r = session_owners_return(dir, f);
	return r < 0 ? r : path_remove_tree(fd, id, f);
}

/* Remove the run directory last: while it exists, a sweep finds the rest. */
static int remove_all(const char *run, const char *state, const struct session *s, struct fault *f)
{
	_cleanup_free_ char *sessions = path_join(run, "sessions");
	_cleanup_free_ char *states = state ? path_join(state, "sessions") : NULL;
	int r = 0;

	if (!sessions || (state && !states))
		return fault_errno(f, ENOMEM, "session");
	if (states)
		r = remove_named(states, s->id, s->has_note, f);
	seam("state-removed");
	if (r == 0)
		r = session_aside_remove(s->run_fd, s->id, f);
	if (r == 0)
		r = remove_named(sessions, s->id, false, f);
	return r < 0 ? fault_wrap(f, r, "remove session '%s'", s->id) : 0;
}

int session_remove(struct session *s, struct fault *f)
{
	_cleanup_free_ char *run = strndup(s->run, strlen(s->run) - strlen(s->id) - strlen("/sessions/"));
	_cleanup_free_ char *state =
		strndup(s->state, strlen(s->state) - strlen(s->id) - strlen("/sessions/"));

	if (!run || !state)
		return fault_errno(f, ENOMEM, "session");
	return remove_all(run, s->has_state ? state : NULL, s, f);
}

void session_done(struct session *s)
{
	free(s->run);
	free(s->state);
	free(s->mount_point);
	s->run = s->state = s->mount_point = NULL;
	s->run_fd = fd_close(s->run_fd);
	s->ids_fd = fd_close(s->ids_fd);
}
