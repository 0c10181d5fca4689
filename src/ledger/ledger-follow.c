/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ledger/ledger-follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "ledger/ledger-lines.h"
#include "ledger/ledger-segment.h"

#define READ_SIZE ((size_t)64 * 1024)

struct following {
	const struct ledger_follow *o;
	int dirfd, fd; /* DIRFD negative: one file */
	uint64_t offset;
	uint64_t next; /* the segment after a rotation; 0: none yet */
};

static int take(const struct record *r, void *arg)
{
	struct following *w = arg;

	w->next = record_kind_is(r, "ledger.rotate") ? r->seq + 1 : 0;
	return w->o->each(r, w->o->arg);
}

/* Reads to the end of the segment; 1: the segment is complete. */
static int drain(struct following *w, struct ledger_lines *l, struct fault *f)
{
	_cleanup_free_ char *buffer = NULL;
	struct stat st;
	ssize_t n;
	int r;

	if (fstat(w->fd, &st) < 0)
		return fault_errno(f, errno, "fstat");
	buffer = malloc(READ_SIZE);
	if (!buffer)
		return fault_errno(f, ENOMEM, "read buffer");
	if ((uint64_t)st.st_size < w->offset) {
		/* A writer has cut off a torn end. */
		w->offset = (uint64_t)st.st_size;
		l->carried = 0;
	}
	while ((n = pread(w->fd, buffer, READ_SIZE, (off_t)w->offset)) > 0) {
		w->offset += (uint64_t)n;
		r = ledger_lines_feed(l, buffer, (size_t)n);
		if (r < 0)
			return fault_errno(f, -r, "ledger");
	}
	if (n < 0)
		return fault_errno(f, errno, "read the ledger");
	r = w->o->caught_up(w->o->arg, f);
	if (r < 0)
		return r;
	return w->next > 0 && w->dirfd >= 0;
}

/* 0: not created yet. */
static int enter_next(struct following *w)
{
	char name[SEGMENT_NAME_SIZE];
	int fd;

	segment_name(w->next, name);
	fd = openat(w->dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	fd_close(w->fd);
	w->fd = fd;
	w->offset = w->next = 0;
	return 1;
}

static int watch(const struct following *w, const char *path, struct fault *f)
{
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC);
	char proc[64];

	/* By descriptor: the path may name another file by now. */
	(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", w->dirfd >= 0 ? w->dirfd : w->fd);
	if (fd < 0 || inotify_add_watch(fd, proc, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
		return fault_errno(f, errno, "watch '%s'", path);
	return TAKE_FD(fd);
}

static int follow(struct following *w, const char *path, struct fault *f)
{
	struct ledger_lines l = { .each = take, .arg = w };
	_cleanup_close_ int events = watch(w, path, f);
	char buffer[4096];
	int r = events < 0 ? events : 0;

	while (r >= 0) {
		r = drain(w, &l, f);
		if (r > 0)
			r = enter_next(w);
		if (r < 0)
			break;
		if (r > 0)
			continue;
		if (read(events, buffer, sizeof(buffer)) < 0 && errno != EINTR)
			r = fault_errno(f, errno, "watch '%s'", path);
	}
	ledger_lines_done(&l);
	return r;
}

int ledger_follow(struct ledger_reader *s, const struct ledger_follow *o, const char *path, struct fault *f)
{
	struct following w = { .o = o, .dirfd = s->dirfd, .fd = s->fd };
	off_t at;
	int r;

	if (s->dirfd >= 0 && s->n > 0) {
		w.offset = s->sizes[s->n - 1];
	} else {
		at = lseek(s->fd, 0, SEEK_CUR);
		if (at < 0)
			return fault_errno(f, errno, "cannot follow '%s'", path);
		w.offset = (uint64_t)at;
	}
	if (w.fd < 0)
		return fault_set(f, ENOENT, "the ledger has no record yet");
	r = follow(&w, path, f);
	s->fd = w.fd; /* ledger_reader_done closes the segment that is open now */
	return r;
}
