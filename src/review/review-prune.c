/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "ledger/ledger-action.h"
#include "review/review-prune.h"
#include "session/session-note.h"

#define STAMP "reviewed" /* in STATE: its mtime is the time of the last prune */
#define STAMP_S (60 * 60)

/* The session keeps no upper any more. */
static int settle(int dirfd, struct fault *f)
{
	_cleanup_session_note_ struct session_note n = { 0 };
	int e;

	if (session_note_read(dirfd, &n, NULL) < 0)
		return 0;
	/* A settled note is read-only and stays so. */
	n.kept = false;
	e = session_note_write(dirfd, &n, f);
	if (e == 0 && n.settled && fchmodat(dirfd, SESSION_NOTE, 0400, 0) < 0)
		e = fault_errno(f, errno, "make the session's note read-only");
	return e;
}

int review_drop(int dirfd, struct fault *f)
{
	int e = session_upper_remove(dirfd, f);

	return e < 0 ? e : settle(dirfd, f);
}

int review_drop_later(int dirfd, struct fault *f)
{
	int e = session_upper_remove_later(dirfd, f);

	return e < 0 ? e : settle(dirfd, f);
}

/* Does a session continue ID that stays?  GONE: those of L that were removed. */
static bool is_held(const struct session_upper_list *l, const bool *gone, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (!gone[i] && l->items[i].chain && str_eq(l->items[i].chain[0], id))
			return true;
	return false;
}

/* 1: removed; 0: another process reviews or has removed it. */
static int expire(const struct dirs *d, const struct session_upper *k, const char *why, struct fault *f)
{
	_cleanup_close_ int dir = session_upper_lock(d, k->session, f);
	_cleanup_session_upper_ struct session_upper now = { 0 };
	int r;

	/* Locked by another process: the next prune tries again. */
	if ((dir == -EBUSY || dir == -ENOENT) && f)
		fault_done(f);
	if (dir < 0)
		return dir == -EBUSY || dir == -ENOENT ? 0 : dir;
	if (session_upper_read(dir, &now, NULL) < 0)
		return 0;
	r = ledger_action_record(d->state, d->user, "review.expire", k->session, why, f);
	if (r == 0)
		r = review_drop(dir, f);
	return r < 0 ? r : 1;
}

/* If the clock was set back, no upper is old. */
static bool is_older(const struct review_prune *p, const struct session_upper *k, uint64_t now_us)
{
	return p->set_older &&
	       (p->older_s == 0 || (k->ended_us < now_us && (now_us - k->ended_us) / 1000000 >= p->older_s));
}

int review_prune(const struct review_prune *p, struct fault *f)
{
	_cleanup_session_upper_list_ struct session_upper_list l = { 0 }, running = { 0 };
	_cleanup_free_ const char **v = NULL;
	_cleanup_free_ bool *gone = NULL;
	const uint64_t now_us = clock_wall_us();
	int r = session_upper_list(p->dirs, &l, f);

	if (r == 0)
		r = session_upper_list_announced(p->dirs, &running, f);
	if (r < 0)
		return r;
	v = calloc(l.n + 1, sizeof(*v));
	gone = calloc(l.n + 1, sizeof(*gone));
	if (!v || !gone)
		return fault_errno(f, ENOMEM, "review");
	session_upper_judge(&l, now_us, p->config->review.keep_days, p->config->review.quota, p->keep, v);
	/* The newest first: a session that continues another one is removed before it. */
	for (size_t i = l.n; i-- > 0 && r >= 0;) {
		const char *why = v[i] ? v[i] : is_older(p, &l.items[i], now_us) ? "by-hand" : NULL;

		if (!why)
			continue;
		if (is_held(&l, gone, l.items[i].session) ||
		    session_upper_is_base(&running, l.items[i].session)) {
			if (p->held)
				++*p->held;
			continue;
		}
		r = p->dry_run ? 1 : expire(p->dirs, &l.items[i], why, f);
		gone[i] = r > 0;
		if (r > 0 && p->told)
			p->told(p->arg, &l.items[i], why);
	}
	return r < 0 ? fault_wrap(f, r, "remove expired changes") : 0;
}

int review_prune_hourly(const struct dirs *d, const struct config *c, const char *keep, struct fault *f)
{
	_cleanup_free_ char *path = path_join(d->state, STAMP);
	_cleanup_close_ int fd = -EBADF;
	time_t now = time(NULL);
	struct stat st;

	if (!path)
		return fault_errno(f, ENOMEM, "review");
	if (lstat(path, &st) == 0 && st.st_mtime <= now && now - st.st_mtime < STAMP_S)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == ENOENT ? 0 : fault_errno(f, errno, "create '%s'", path);
	if (futimens(fd, NULL) < 0)
		return fault_errno(f, errno, "touch '%s'", path);
	return review_prune(&(struct review_prune){ .dirs = d, .config = c, .keep = keep }, f);
}
