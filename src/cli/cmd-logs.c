/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cli/dispatch.h"
#include "cli/session-print.h"
#include "cli/output.h"
#include "base/exit-status.h"

#define STEP 65536
#define OPEN_TRIES 16

/* A log that is read while it is written and rotated. */
struct following {
	int dir; /* of the session */
	int fd;	 /* the file that is read */
	bool raw;
	bool gone; /* the reader of stdout is gone */
};

static void following_done(struct following *w)
{
	w->dir = fd_close(w->dir);
	w->fd = fd_close(w->fd);
}

static int open_log(int dir, const char *name)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	return TAKE_FD(fd);
}

static bool is_same(int fd, int dir, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The rotated file and the current one; a rotation may happen between the two opens. */
static int open_both(struct following *w, int *ret_old, struct fault *f)
{
	for (int i = 0; i < OPEN_TRIES; i++) {
		_cleanup_close_ int fd = open_log(w->dir, SESSION_LOG),
				    old = open_log(w->dir, SESSION_LOG_OLD);

		if (fd < 0 && fd != -ENOENT)
			return fault_errno(f, -fd, "open '" SESSION_LOG "'");
		if (fd < 0 && old < 0)
			return -ENOENT;
		if (fd < 0 || !is_same(fd, w->dir, SESSION_LOG))
			continue;
		w->fd = TAKE_FD(fd);
		*ret_old = old < 0 ? -EBADF : TAKE_FD(old);
		return 0;
	}
	/* The writer died, or had no space for a new file, during a rotation: only the rotated file exists. */
	if (faccessat(w->dir, SESSION_LOG, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		w->fd = open_log(w->dir, SESSION_LOG_OLD);
	if (w->fd >= 0)
		return 0;
	return fault_set(f, EAGAIN, "the log is rotated faster than it can be opened");
}

/* For a terminal: newlines and tabs pass, other control characters are escaped. */
static void escape(struct strbuf *out, const char *bytes, size_t len)
{
	while (len > 0) {
		size_t n = 0;
		_cleanup_free_ char *part = NULL, *shown = NULL;

		while (n < len && bytes[n] != '\n' && bytes[n] != '\t' && bytes[n] != '\0')
			n++;
		part = strndup(bytes, n);
		shown = part ? str_escape(part) : NULL;
		strbuf_puts(out, shown ? shown : "?");
		if (n < len)
			strbuf_puts(out, bytes[n] == '\n' ? "\n" : bytes[n] == '\t' ? "\t" : "\\x00");
		n += n < len;
		bytes += n;
		len -= n;
	}
}

static int put(struct following *w, const char *bytes, size_t len, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf shown = { 0 };
	int r;

	if (!w->raw) {
		escape(&shown, bytes, len);
		if (shown.broken)
			return fault_errno(f, ENOMEM, "log");
		bytes = shown.text ? shown.text : "";
		len = shown.len;
	}
	r = fd_write_all(STDOUT_FILENO, bytes, len, f);
	w->gone = r == -EPIPE;
	return r;
}

/* Up to the current end.  A character that is split between two reads is escaped byte by byte. */
static int copy(struct following *w, int fd, struct fault *f)
{
	_cleanup_free_ char *room = malloc(STEP);
	int r = room ? 0 : fault_errno(f, ENOMEM, "log");

	while (r == 0) {
		ssize_t n = read(fd, room, STEP);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read the log");
		if (n == 0)
			return 0;
		r = put(w, room, (size_t)n, f);
	}
	return r;
}

/* Copies new output; continues in the next file after a rotation. */
static int catch_up(struct following *w, struct fault *f)
{
	for (;;) {
		bool rotated = !is_same(w->fd, w->dir, SESSION_LOG);
		int r = copy(w, w->fd, f), fd;

		if (r < 0 || !rotated)
			return r;
		/* The writer does not append to a rotated file: it was read completely. */
		fd = open_log(w->dir, SESSION_LOG);
		if (fd == -ENOENT)
			return 0; /* during a rotation */
		if (fd < 0)
			return fault_errno(f, -fd, "open '" SESSION_LOG "'");
		if (!is_same(w->fd, w->dir, SESSION_LOG_OLD))
			fprintf(stderr,
				PACKAGE_NAME " logs: some output was rotated away before it was read\n");
		(void)fd_close(w->fd);
		w->fd = fd;
	}
}

static int open_watch(int dir, struct fault *f)
{
	_cleanup_close_ int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	if (fd < 0 || inotify_add_watch(fd, path, IN_MODIFY | IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO) < 0)
		return fault_errno(f, errno, "watch the log");
	return TAKE_FD(fd);
}

/* Until the supervisor exits or the reader of stdout is gone. */
static int follow(struct following *w, int pidfd, struct fault *f)
{
	_cleanup_close_ int events = open_watch(w->dir, f);
	int r = events < 0 ? events : 0;

	while (r == 0) {
		struct pollfd p[3] = { { .fd = pidfd, .events = POLLIN },
				       { .fd = events, .events = POLLIN },
				       { .fd = STDOUT_FILENO } };
		char drop[4096];

		r = catch_up(w, f);
		if (r < 0 || (poll(p, 3, -1) < 0 && errno != EINTR))
			return r < 0 ? r : fault_errno(f, errno, "wait for the log");
		if (p[2].revents & (POLLERR | POLLNVAL)) {
			w->gone = true;
			return 0;
		}
		while (read(events, drop, sizeof(drop)) > 0)
			;
		if (p[0].revents)
			return catch_up(w, f);
	}
	return r;
}

static int print(struct command_call *c, const struct session_note *n, struct following *w, struct fault *f)
{
	_cleanup_close_ int old = -EBADF, pidfd = -EBADF;
	int r = open_both(w, &old, f);

	if (r == -ENOENT) {
		fprintf(stderr, PACKAGE_NAME " logs: session '%s' %s\n", n->session,
			n->detached ? "has no log, it was removed"
				    : "was not detached (run -d): its output went to its caller");
		return STATUS_NO;
	}
	/* Opened before the first read: an exit after it is noticed. */
	if (r == 0 && c->follow && n->state == SESSION_RUNNING) {
		pidfd = session_note_watch(&c->dirs, n, f);
		if (pidfd == -ESRCH)
			fault_done(f);
		else if (pidfd < 0)
			return pidfd;
	}
	if (r == 0 && old >= 0)
		r = copy(w, old, f);
	if (r == 0)
		r = pidfd >= 0 ? follow(w, pidfd, f) : catch_up(w, f);
	return r < 0 ? r : STATUS_OK;
}

int cmd_logs(struct command_call *c, struct fault *f)
{
	const struct session_print_ask ask = {
		.verb = "logs", .word = c->args[0], .action = "", .fit = SESSION_FIT_ANY
	};
	__attribute__((cleanup(following_done))) struct following w = { .dir = -EBADF, .fd = -EBADF };
	_cleanup_session_note_ struct session_note n = { 0 };
	int status, r;

	r = session_print_find(&c->dirs, &ask, &n, &status, f);
	if (r < 0 || status != STATUS_OK)
		return r < 0 ? r : status;
	w.dir = session_note_open_dir(&c->dirs, n.session, f);
	if (w.dir < 0)
		return w.dir;
	(void)signal(SIGPIPE, SIG_IGN);
	w.raw = c->raw || !isatty(STDOUT_FILENO);
	r = print(c, &n, &w, f);
	/* The reader stopped early: `logs -f S | head`. */
	if (w.gone) {
		fault_done(f);
		return STATUS_OK;
	}
	return r;
}
