/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/seam.h"
#include "base/str.h"
#include "ledger/ledger-claim.h"
#include "session/session-aside.h"
#include "session/session-note.h"

#define SWEEP_AGAIN_S 60

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

static int settle(const struct dirs *d, const char *id, struct fault *f)
{
	_cleanup_dir_ DIR *states = open_list(d->state, "sessions");

	return states ? session_note_settle(dirfd(states), id, f) : 0;
}

/* Returns 1 if ID was stale and was removed. */
static int sweep_one(const struct dirs *d, int sessions_fd, const char *id, session_release release,
		     void *arg, struct fault *f)
{
	_cleanup_close_ int fd = openat(sessions_fd, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum lane lane = d->lane;
	int r;

	/* Removed concurrently, or alive. */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return 0;
	/* Each lane sweeps its own sessions. A session without a stamp died before it had a lane. */
	r = lane_read_stamp(fd, id, &lane, f);
	if (r < 0 || lane != d->lane)
		return r < 0 ? r : 0;
	r = release ? release(arg, id, fd, f) : 0;
	if (r == 0)
		r = settle(d, id, f);
	seam("dead-state-removed");
	if (r == 0)
		r = session_aside_remove(fd, id, f);
	if (r == 0)
		r = path_remove_tree(sessions_fd, id, f);
	return r < 0 ? fault_wrap(f, r, "clean up after session '%s'", id) : 1;
}

/* Does PARENT/DIR/ID exist? True also if that cannot be found out. */
static bool is_there(const char *parent, const char *dir, const char *id)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s/%s", parent, dir, id) < 0) {
		path = NULL;
		return true;
	}
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* The first fault is reported; the sweep continues after a fault. */
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
		if (s->f) {
			*s->f = *f;
			*f = (struct fault){ 0 };
		}
	}
	fault_done(f);
}

/* Ids begin with the UTC time: sessions with a smaller id are too old. */
static int cutoff(char id[SESSION_ID_SIZE])
{
	const time_t then = time(NULL) - (time_t)SESSION_NOTES_DAYS * 24 * 60 * 60;
	struct tm tm;

	return gmtime_r(&then, &tm) && strftime(id, SESSION_ID_SIZE, "%Y%m%dT%H%M%SZ", &tm) > 0 ? 0 : -EINVAL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Only the newest notes are kept. A session with a kept upper holds a user's work and does not expire here. */
static int prune(int states_fd, char **settled, struct fault *f)
{
	size_t n = strv_len(settled), old = n > SESSION_NOTES_MAX ? n - SESSION_NOTES_MAX : 0;
	char oldest[SESSION_ID_SIZE];
	int r = 0;

	if (n == 0 || cutoff(oldest) < 0)
		return 0;
	qsort(settled, n, sizeof(*settled), by_name);
	for (size_t i = 0; r == 0 && i < n && (i < old || strcmp(settled[i], oldest) < 0); i++) {
		_cleanup_free_ char *layer = path_join(settled[i], SESSION_UPPER);

		if (layer && faccessat(states_fd, layer, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			r = path_remove_tree(states_fd, settled[i], f);
	}
	return r;
}

/*
 * RUN is empty after a reboot, STATE is not. A state directory is created after its run directory is locked, so
 * without a run directory its supervisor is dead. While its claim is open, its files are needed for evidence and are
 * left alone. A settled session needs no work.
 */
static void sweep_states(const struct dirs *d, struct sweeping *s)
{
	_cleanup_dir_ DIR *states = open_list(d->state, "sessions");
	_cleanup_strv_ char **settled = NULL;
	_cleanup_fault_ struct fault old = { 0 };
	const struct dirent *e;
	int r = 0;

	while (states && (e = readdir(states))) {
		_cleanup_fault_ struct fault f = { 0 };

		if (e->d_name[0] == '.')
			continue;
		if (session_note_is_settled(dirfd(states), e->d_name)) {
			/* If this fails, the next sweep prunes it. */
			(void)!strv_append(&settled, e->d_name);
			continue;
		}
		if (is_there(d->run, "sessions", e->d_name) || is_there(d->state, CLAIM_DIR, e->d_name))
			continue;
		r = session_note_settle(dirfd(states), e->d_name, &f);
		count(s, r < 0 ? fault_wrap(&f, r, "clean up after session '%s'", e->d_name) : 1, &f);
	}
	r = states ? prune(dirfd(states), settled, &old) : 0;
	count(s, r < 0 ? fault_wrap(&old, r, "remove old sessions") : 0, &old);
}

static int open_stamp(const struct dirs *d, int flags)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/swept-%s", d->run, lane_name(d->lane)) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

/*
 * A killed supervisor leaves its run directory. State without one is only left by a reboot, which also removes the
 * stamp, and pruning is not urgent. So a start does not have to stat a thousand notes.
 */
static bool is_due(const struct dirs *d)
{
	_cleanup_close_ int fd = open_stamp(d, O_RDONLY);
	const time_t now = time(NULL);
	struct stat st;

	return fd < 0 || fstat(fd, &st) < 0 || st.st_mtime > now || now - st.st_mtime >= SWEEP_AGAIN_S;
}

static void stamp(const struct dirs *d)
{
	_cleanup_close_ int fd = open_stamp(d, O_WRONLY | O_CREAT);

	/* If this fails, the next start sweeps again. */
	if (fd >= 0)
		(void)futimens(fd, NULL);
}

static int sweep(const struct dirs *d, bool states, session_release release, void *arg, struct fault *f)
{
	_cleanup_dir_ DIR *sessions = open_list(d->run, "sessions");
	struct sweeping s = { .f = f };
	const struct dirent *e;

	while (sessions && (e = readdir(sessions))) {
		_cleanup_fault_ struct fault one = { 0 };

		if (e->d_name[0] != '.')
			count(&s, sweep_one(d, dirfd(sessions), e->d_name, release, arg, &one), &one);
	}
	if (states)
		sweep_states(d, &s);
	if (states && s.error == 0)
		stamp(d);
	return s.error < 0 ? s.error : s.n;
}

int session_sweep(const struct dirs *d, session_release release, void *arg, struct fault *f)
{
	return sweep(d, true, release, arg, f);
}

int session_sweep_start(const struct dirs *d, session_release release, void *arg, struct fault *f)
{
	return sweep(d, is_due(d), release, arg, f);
}

int session_sweep_dead(const struct dirs *d, session_release release, void *arg, struct fault *f)
{
	return sweep(d, false, release, arg, f);
}

bool session_is_any_dead(const struct dirs *d)
{
	_cleanup_dir_ DIR *sessions = open_list(d->run, "sessions");
	const struct dirent *e;

	while (sessions && (e = readdir(sessions))) {
		_cleanup_close_ int fd = e->d_name[0] == '.'
						 ? -EBADF
						 : openat(dirfd(sessions), e->d_name,
							  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
			return true;
	}
	return false;
}
