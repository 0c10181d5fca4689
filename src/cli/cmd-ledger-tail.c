/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/ledger-lines.h"
#include "base/exit-status.h"
#include "ledger/ledger-impl.h"

#define LINES_DEFAULT 10
#define LINES_MAX 100000
#define STEP ((size_t)64 * 1024)

/* The last N that are wanted, in a ring. */
struct last {
	const struct ledger_filter *filter;
	char **lines;
	size_t n, at; /* AT counts on and on */
};

static int keep(const struct record *r, void *arg)
{
	struct last *l = arg;
	char *copy;

	if (!ledger_filter_has(l->filter, r) || l->n == 0)
		return 0;
	copy = strndup(r->line, r->len);
	if (!copy)
		return -ENOMEM;
	free(l->lines[l->at % l->n]);
	l->lines[l->at++ % l->n] = copy;
	return 0;
}

static void print_last(const struct last *l)
{
	size_t have = l->at < l->n ? l->at : l->n;

	for (size_t i = l->at - have; i < l->at; i++) {
		const char *line = l->lines[i % l->n], *why;
		struct record r;

		if (record_parse(line, strlen(line), &r, &why) == 0)
			lines_print(&r, stdout);
	}
}

static int read_last(struct ledger_reader *s, struct last *l, struct fault *f)
{
	struct lines lines = { .each = keep, .arg = l };
	int r = lines_read(s, &lines, f);

	lines_done(&lines);
	return r;
}

struct following {
	const struct ledger_filter *filter;
	int dirfd, fd; /* DIRFD negative: one file */
	uint64_t offset, segment;
	uint64_t next; /* the segment after a rotation; 0: none yet */
};

static int print_new(const struct record *r, void *arg)
{
	struct following *w = arg;

	if (ledger_filter_has(w->filter, r))
		lines_print(r, stdout);
	w->next = record_kind_is(r, "ledger.rotate") ? r->seq + 1 : 0;
	return 0;
}

/* Everything that is there now; 1: the segment is complete. */
static int drain(struct following *w, struct lines *l, struct fault *f)
{
	_cleanup_free_ char *room = NULL;
	struct stat st;
	ssize_t n;

	if (fstat(w->fd, &st) < 0)
		return fault_errno(f, errno, "fstat");
	room = malloc(STEP);
	if (!room)
		return fault_errno(f, ENOMEM, "read buffer");
	if ((uint64_t)st.st_size < w->offset) {
		/* A torn end was cut off. */
		w->offset = (uint64_t)st.st_size;
		l->carried = 0;
	}
	while ((n = pread(w->fd, room, STEP, (off_t)w->offset)) > 0) {
		w->offset += (uint64_t)n;
		if (lines_feed(l, room, (size_t)n) < 0)
			return fault_errno(f, ENOMEM, "ledger");
	}
	if (n < 0)
		return fault_errno(f, errno, "read the ledger");
	if (fflush(stdout) != 0)
		return fault_errno(f, errno, "write to stdout");
	return w->next > 0 && w->dirfd >= 0;
}

static int enter_next(struct following *w)
{
	char name[SEGMENT_NAME_SIZE];
	int fd;

	segment_name(w->next, name);
	fd = openat(w->dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0; /* made in a moment */
	fd_close(w->fd);
	w->fd = fd;
	w->segment = w->next;
	w->offset = w->next = 0;
	return 1;
}

static int watch(const struct following *w, const char *path, struct fault *f)
{
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC);
	char proc[64];

	/* By descriptor: the name may mean another file by now. */
	(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", w->dirfd >= 0 ? w->dirfd : w->fd);
	if (fd < 0 || inotify_add_watch(fd, proc, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		return fault_errno(f, errno, "watch '%s'", path);
	return TAKE_FD(fd);
}

static int follow(struct following *w, const char *path, struct fault *f)
{
	struct lines l = { .each = print_new, .arg = w };
	_cleanup_close_ int events = watch(w, path, f);
	char room[4096];
	int r = events < 0 ? events : 0;

	while (r >= 0) {
		r = drain(w, &l, f);
		if (r > 0)
			r = enter_next(w);
		if (r < 0)
			break;
		if (r > 0)
			continue;
		if (read(events, room, sizeof(room)) < 0 && errno != EINTR)
			r = fault_errno(f, errno, "watch '%s'", path);
	}
	lines_done(&l);
	return r;
}

/* Goes on where the source ended. */
static int follow_source(struct ledger_reader *s, const struct ledger_filter *x, const char *path,
			 struct fault *f)
{
	struct following w = { .filter = x, .dirfd = s->dirfd, .fd = s->fd };
	off_t at;
	int r;

	if (s->dirfd >= 0 && s->n > 0) {
		w.segment = s->segments[s->n - 1];
		w.offset = s->sizes[s->n - 1];
	} else {
		at = lseek(s->fd, 0, SEEK_CUR);
		if (at < 0)
			return fault_errno(f, errno, "'%s' cannot be followed", path);
		w.offset = (uint64_t)at;
	}
	if (w.fd < 0)
		return fault_set(f, ENOENT, "there is no record yet");
	r = follow(&w, path, f);
	s->fd = w.fd; /* closed with the source, whichever it is now */
	return r;
}

static int tail(const struct ledger_call *c, const struct ledger_filter *x, size_t n, struct fault *f)
{
	_cleanup_ledger_reader_ struct ledger_reader s = { .dirfd = -EBADF, .fd = -EBADF };
	struct last l = { .filter = x, .n = n, .lines = calloc(n + 1, sizeof(char *)) };
	int r;

	if (!l.lines)
		return fault_errno(f, ENOMEM, "ledger");
	r = ledger_open_source(c, &s, f);
	/* The newest segment has what is wanted, as a rule. */
	if (r == 0 && !x->any)
		ledger_reader_skip_to(&s, UINT64_MAX);
	if (r == 0)
		r = read_last(&s, &l, f);
	if (r == 0 && l.at < n && !x->any && s.n > 1) {
		l.at = 0;
		ledger_reader_done(&s);
		s = (struct ledger_reader){ .dirfd = -EBADF, .fd = -EBADF };
		r = ledger_open_source(c, &s, f);
		if (r == 0)
			r = read_last(&s, &l, f);
	}
	if (r == 0)
		print_last(&l);
	if (r == 0 && c->follow)
		r = follow_source(&s, x, c->path ? c->path : c->dirs.state, f);
	for (size_t i = 0; i < n; i++)
		free(l.lines[i]);
	free(l.lines);
	return r < 0 ? r : STATUS_OK;
}

int ledger_cmd_tail(const struct ledger_call *c, struct fault *f)
{
	struct ledger_filter x;
	uint64_t n = LINES_DEFAULT;
	int r;

	if (c->lines && (str_to_u64(c->lines, &n) < 0 || n > LINES_MAX))
		return ledger_usage("-n '%s': a number up to %d", c->lines, LINES_MAX);
	r = ledger_filter_init(c, &x);
	if (r == 0)
		r = tail(c, &x, (size_t)n, f);
	ledger_filter_done(&x);
	return r;
}
