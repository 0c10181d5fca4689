/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/review-chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit-status.h"
#include "base/fd.h"
#include "base/str.h"
#include "session/session-sum.h"

int review_require_last(const struct review_call *r, struct fault *f)
{
	_cleanup_strv_ char **children = NULL;
	const char *verb = r->call->command->name, *id = r->kept.session;
	int e = session_upper_children(&r->call->dirs, id, &children, f);

	if (e < 0 || !children)
		return e;
	fprintf(stderr,
		PACKAGE_NAME
		" %s: session %s is continued by session %s, whose changes are above it: custody %s "
		"%s, or first: custody discard %s\n",
		verb, id, children[0], str_eq(verb, "discard") ? "apply" : verb, children[0], children[0]);
	return STATUS_NO;
}

/* The supervisor was killed before the sum was complete, or the disk was full then. */
static int make_sum(const struct review_call *r, struct fault *f)
{
	if (flock(r->dir, LOCK_EX | LOCK_NB) < 0)
		return fault_set(f, EBUSY, "session '%s' is in use by another process: retry",
				 r->kept.session);
	return session_sum_make_from(&r->call->dirs, &r->kept, r->dir, f);
}

static int open_moment(struct review_call *r, struct fault *f)
{
	int e, fd;

	(void)snprintf(r->moment, sizeof(r->moment), "s.%d", (int)getpid());
	e = session_sum_copy(&r->call->dirs, &r->kept, r->dir, r->moment, f);
	if (e < 0)
		return e;
	fd = openat(r->dir, r->moment, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", r->moment) : fd;
}

int review_open_layer(struct review_call *r, struct fault *f)
{
	int e, fd;

	if (r->running && r->kept.chain)
		return open_moment(r, f);
	fd = session_layer_open(r->dir, &r->kept, f);
	if (fd != -ENOENT || !r->kept.chain)
		return fd;
	fault_done(f);
	e = make_sum(r, f);
	return e < 0 ? e : session_layer_open(r->dir, &r->kept, f);
}

static int refuse_running(const struct review_call *r, const char *why)
{
	fprintf(stderr, PACKAGE_NAME " diff: session %s is still running, and %s\n", r->note.session, why);
	return STATUS_NO;
}

/* What recovery would read if its supervisor died now.  BELOW: "", or the directory of the repository. */
static int read_announced(struct review_call *r, const char *below, struct fault *f)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -EBADF;

	if (asprintf(&path, "%s/sessions/%s/%s", r->call->dirs.run, r->note.session, below) < 0) {
		path = NULL;
		return fault_errno(f, ENOMEM, "session");
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? fault_errno(f, errno, "open '%s'", path) : session_upper_read(fd, &r->kept, f);
}

/* As at its end: everything in the upper belongs to the session's id. */
static int set_ids(struct review_call *r, struct fault *f)
{
	struct stat st;

	if (fstatat(r->dir, SESSION_UPPER_DIR, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "upper of session '%s'", r->note.session);
	r->kept.ids.uid_from = st.st_uid;
	r->kept.ids.gid_from = st.st_gid;
	return 0;
}

int review_read_running_repository(struct review_call *g, struct fault *f)
{
	int e = read_announced(g, SESSION_REPOSITORY, f);

	return e < 0 ? e : set_ids(g, f);
}

int review_open_running(struct review_call *r, struct fault *f)
{
	int e = read_announced(r, "", f);

	if (e == -ENOENT) {
		fault_done(f);
		return refuse_running(r, "no changes of it will be kept");
	}
	if (e < 0)
		return e;
	r->dir = session_note_open_dir(&r->call->dirs, r->note.session, f);
	if (r->dir < 0)
		return r->dir;
	e = set_ids(r, f);
	if (e < 0)
		return e;
	fprintf(stderr, PACKAGE_NAME " diff: session %s is still running: its changes at this moment\n",
		r->note.session);
	return 0;
}

static int record(struct review_call *r, const char *id, struct fault *f)
{
	_cleanup_jdoc_ struct jdoc *d = review_describe(r);
	const struct ledger_event e = { .kind = "review.applied",
					.session = id,
					.agent = r->note.agent,
					.worker = r->note.worker,
					.d = d };

	jdoc_set_string(d, "with", r->kept.session);
	return ledger_append(r->ledger, &e, 1, LEDGER_DECIDED, NULL, f);
}

/* 1: dropped, and *RET_NEXT is its base or NULL; 0: it stays. */
static int drop(struct review_call *r, const char *id, char **ret_next, struct fault *f)
{
	_cleanup_session_upper_ struct session_upper k = { 0 };
	_cleanup_strv_ char **children = NULL;
	_cleanup_close_ int dir = session_upper_lock(&r->call->dirs, id, f);
	int e;

	/* In use by a run that continues it as well, or gone. */
	if (dir == -EBUSY || dir == -ENOENT) {
		fault_done(f);
		return 0;
	}
	if (dir < 0)
		return dir;
	if (session_upper_read(dir, &k, NULL) < 0)
		return 0;
	e = session_upper_children(&r->call->dirs, id, &children, f);
	if (e < 0 || children)
		return e;
	e = record(r, id, f);
	if (e == 0)
		e = review_drop(dir, f);
	if (e < 0)
		return e;
	*ret_next = k.chain ? strdup(k.chain[0]) : NULL;
	if (k.chain && !*ret_next)
		return fault_errno(f, ENOMEM, "session");
	return 1;
}

/* From base to base: the list of the last session ends after RUN_BASE_CHAIN_MAX of them. */
int review_drop_chain(struct review_call *r, struct fault *f)
{
	_cleanup_free_ char *id = NULL;
	int e = 1;

	if (r->kept.chain && !(id = strdup(r->kept.chain[0])))
		return fault_errno(f, ENOMEM, "session");
	while (id && e == 1) {
		_cleanup_free_ char *next = NULL;

		e = drop(r, id, &next, f);
		if (e < 0)
			return fault_wrap(f, e, "session '%s', whose changes are applied", id);
		if (e == 1)
			printf("applied with it: the changes of session %s\n", id);
		free(id);
		id = TAKE_PTR(next);
	}
	return 0;
}
