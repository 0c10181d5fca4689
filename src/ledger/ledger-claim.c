/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "base/path.h"
#include "base/seam.h"
#include "ledger/ledger-impl.h"
#include "ledger/ledger-reader.h"

#define CLAIM_TRIES 16
#define CLAIM_SIZE 24 /* a number and LF */

static int open_claims(const char *state, bool create, struct fault *f)
{
	_cleanup_free_ char *path = path_join(state, CLAIM_DIR);
	struct stat st;
	int fd;

	if (!path)
		return fault_errno(f, ENOMEM, "claims");
	if (create && mkdir(path, 0700) < 0 && errno != EEXIST)
		return fault_errno(f, errno, "create '%s'", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 077)) {
		(void)fd_close(fd);
		return fault_set(f, EPERM, "'%s' must be owned by you, with mode 0700: chown %u, chmod 0700",
				 path, (unsigned int)geteuid());
	}
	return fd;
}

/* A sweep may lock the file first and remove it: wait for the lock, and retry if the file was unlinked. */
static int make_locked(int dirfd, const char *name, struct fault *f)
{
	for (unsigned int i = 0; i < CLAIM_TRIES; i++) {
		_cleanup_close_ int fd =
			openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		struct stat st;

		if (fd < 0)
			return fault_errno(f, errno, "create the claim of session '%s'", name);
		if (flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0)
			return fault_errno(f, errno, "lock the claim of session '%s'", name);
		if (st.st_nlink > 0)
			return TAKE_FD(fd);
	}
	return fault_set(f, EAGAIN, "the claim of session '%s' was removed %d times while it was created",
			 name, CLAIM_TRIES);
}

int claim_take(const char *state, struct ledger *l, const char *session, struct claim *ret, struct fault *f)
{
	_cleanup_claim_ struct claim c = CLAIM_NONE;
	_cleanup_seal_ struct seal s = { 0 };
	char text[CLAIM_SIZE];
	int n, r;

	(void)snprintf(c.session, sizeof(c.session), "%s", session);
	c.dirfd = open_claims(state, true, f);
	if (c.dirfd < 0)
		return c.dirfd;
	c.fd = make_locked(c.dirfd, c.session, f);
	if (c.fd < 0)
		return c.fd;
	/* A concurrent write may give an inconsistent seal: then the search begins at the first record. */
	if (seal_read(l->sealfd, &s, NULL) < 0)
		s.index = 0;
	n = snprintf(text, sizeof(text), "%" PRIu64 "\n", s.index);
	r = fd_write_all(c.fd, text, (size_t)n, f);
	if (r < 0) {
		claim_drop(&c);
		return fault_wrap(f, r, "claim of session '%s'", session);
	}
	*ret = c;
	c = CLAIM_NONE;
	return 0;
}

void claim_drop(struct claim *c)
{
	if (c->dirfd >= 0 && c->session[0])
		(void)unlinkat(c->dirfd, c->session, 0);
	claim_done(c);
}

void claim_done(struct claim *c)
{
	c->fd = fd_close(c->fd);
	c->dirfd = fd_close(c->dirfd);
}

/* Records of one session found in the ledger. */
struct found {
	char needle[sizeof("\"session\":\"\"") + SESSION_ID_SIZE];
	bool begun, started, ended;
	bool exec; /* a command in a running session */
	char *agent, *worker, *cwd, *within;
	char **command;
};

static void found_done(struct found *w)
{
	free(w->agent);
	free(w->worker);
	free(w->cwd);
	free(w->within);
	strv_free(w->command);
}

static char *copy_string(const struct jdoc *d, const char *key)
{
	const char *text = jdoc_get_string(d, key);

	return text ? strdup(text) : NULL;
}

/* As recorded: redacted, and truncated if it was too long. */
static char **copy_strings(const struct jdoc *d, const char *key)
{
	const struct jdoc *list = jdoc_get(d, key);
	char **v = NULL;

	for (size_t i = 0; list && list->type == JDOC_ARRAY && i < list->n_items; i++)
		if (list->items[i]->type == JDOC_STRING && strv_append(&v, list->items[i]->string) < 0)
			break;
	return v;
}

static void read_line(void *arg, const char *line, size_t len)
{
	struct found *w = arg;
	_cleanup_jdoc_ struct jdoc *d = NULL;
	struct record r;
	const char *why;

	if (!memmem(line, len, w->needle, strlen(w->needle)) || record_parse(line, len, &r, &why) < 0 ||
	    !memmem(r.session.at, r.session.len, w->needle + strlen("\"session\":\""), SESSION_ID_SIZE - 1))
		return;
	if (ledger_session_kind_is(&r, LEDGER_SESSION_END) ||
	    ledger_session_kind_is(&r, LEDGER_SESSION_REFUSED))
		w->ended = true;
	if (ledger_session_kind_is(&r, LEDGER_SESSION_START))
		w->started = true;
	if (!ledger_session_kind_is(&r, LEDGER_SESSION_INTENT) || w->begun)
		return;
	w->begun = true;
	w->exec = record_kind_is(&r, "exec.intent");
	if (jdoc_parse(line, len, "record", NULL, &d, NULL) < 0)
		return;
	w->agent = copy_string(d, "agent");
	w->worker = copy_string(d, "worker");
	w->cwd = copy_string(jdoc_get(d, "d"), "cwd");
	w->within = copy_string(jdoc_get(d, "d"), "within");
	w->command = copy_strings(jdoc_get(d, "d"), "command");
}

static int search(const char *state, uint64_t from, struct found *w, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	int r = ledger_reader_open_live(state, &s, f);

	if (r < 0)
		return r;
	ledger_reader_skip_to(&s, from);
	return ledger_reader_each_line(&s, read_line, w, f);
}

static uint64_t read_start(int fd)
{
	char text[CLAIM_SIZE] = { 0 };
	uint64_t from = 0;

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return str_to_u64(text, &from) < 0 ? 0 : from;
}

static int close_locked(const char *state, struct ledger *l, const char *session, int fd,
			const struct claim_end *how, struct fault *f)
{
	__attribute__((cleanup(found_done))) struct found w = { 0 };
	/* The command is that of the intent, which is redacted. */
	static const struct redact rules = { .marked = true };
	struct ledger_run run = { .session = session, .redact = &rules };
	int r;

	(void)snprintf(w.needle, sizeof(w.needle), "\"session\":\"%s\"", session);
	r = search(state, read_start(fd), &w, f);
	if (r < 0 || !w.begun || w.ended)
		return r;
	run.action = w.exec ? LEDGER_ACTION_EXEC : NULL;
	run.agent = w.agent;
	run.worker = w.worker;
	run.cwd = w.cwd;
	run.within = w.within;
	run.argv = w.command;
	if (how->before)
		how->before(how->arg, &run, w.started, how->end);
	r = ledger_end(l, state, &run, how->end, f);
	return r < 0 ? r : 1;
}

static int close_one(const char *state, struct ledger *l, int dirfd, const char *session,
		     const struct claim_end *how, struct fault *f)
{
	_cleanup_close_ int fd = openat(dirfd, session, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int r;

	/* Removed since, alive, or closed by another process. */
	if (fd < 0 || strlen(session) != SESSION_ID_SIZE - 1 || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
	    fstat(fd, &st) < 0 || st.st_nlink == 0)
		return 0;
	r = close_locked(state, l, session, fd, how, f);
	if (r < 0)
		return fault_wrap(f, r, "close the record of session '%s'", session);
	seam("dead-end-recorded");
	(void)unlinkat(dirfd, session, 0);
	return r;
}

int claim_close(const char *state, struct ledger *l, const char *session, const struct claim_end *how,
		struct fault *f)
{
	_cleanup_close_ int dirfd = open_claims(state, false, NULL);

	return dirfd < 0 ? 0 : close_one(state, l, dirfd, session, how, f);
}

int claim_list(const char *state, char ***ret, struct fault *f)
{
	_cleanup_strv_ char **names = NULL;
	int fd = open_claims(state, false, NULL), r = 0;
	const struct dirent *e;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		(void)fd_close(fd);
		*ret = NULL;
		return 0;
	}
	while (r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = strv_append(&names, e->d_name);
	(void)closedir(d);
	if (r < 0)
		return fault_errno(f, ENOMEM, "claims");
	*ret = TAKE_PTR(names);
	return 0;
}
