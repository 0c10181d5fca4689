/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/stdio-relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"

#define PIPEFS_MAGIC 0x50495045

static bool is_anonymous_pipe(int fd)
{
	struct stat st;
	struct statfs fs;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && fstatfs(fd, &fs) == 0 &&
	       fs.f_type == PIPEFS_MAGIC;
}

static bool is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

static bool is_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino &&
	       x.st_rdev == y.st_rdev;
}

static bool is_regular(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int make_pipe(int fd[2], struct fault *f)
{
	return pipe2(fd, O_CLOEXEC) < 0 ? fault_errno(f, errno, "create a pipe") : 0;
}

static int set_nonblocking(int fd, struct fault *f)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return fault_errno(f, errno, "pipe flags");
	return 0;
}

/*
 * A stopped terminal (Ctrl-S) would block us in the middle of a write. Its non-blocking flag is shared by all users
 * of the descriptor, so it is opened once more; FD itself if that fails.
 */
static int reopen_terminal(int fd, bool *own)
{
	char path[32];
	int again;

	*own = false;
	if (!isatty(fd))
		return fd;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	*own = again >= 0;
	return again >= 0 ? again : fd;
}

static int open_in(struct stdio *s, int user, bool pty, struct fault *f)
{
	int fd[2], r;

	/*
	 * Not the pipe itself: the payload could open it for writing by /proc/self/fd/0 and write to the next reader
	 * after the run, or change the shared flags.
	 */
	if (!pty && is_anonymous_pipe(user))
		return pump_lend(&s->pump[STDIO_IN], user, &s->child[STDIO_IN], f);
	r = make_pipe(fd, f);
	if (r < 0)
		return r;
	s->child[STDIO_IN] = fd[0];
	if (pty || is_null(user)) {
		(void)fd_close(fd[1]);
		return 0;
	}
	pump_init(&s->pump[STDIO_IN], user, false, fd[1], true);
	if (is_regular(user))
		s->input = user;
	return set_nonblocking(fd[1], f);
}

static int open_out(struct stdio *s, int which, int user, struct fault *f)
{
	bool own;
	int fd[2], out, r;

	r = make_pipe(fd, f);
	if (r < 0)
		return r;
	s->child[which] = fd[1];
	out = reopen_terminal(user, &own);
	pump_init(&s->pump[which], fd[0], true, out, own);
	return set_nonblocking(fd[0], f);
}

int stdio_open(struct stdio *s, const int user[STDIO_N], unsigned int pty, struct fault *f)
{
	int r;

	s->input = -EBADF;
	s->merged = false;
	s->pty = pty;
	for (int i = 0; i < STDIO_N; i++)
		s->child[i] = -EBADF;
	for (int i = 0; i < STDIO_PUMPS; i++)
		pump_init(&s->pump[i], -EBADF, false, -EBADF, false);
	r = open_in(s, user[STDIO_IN], pty & 1U << STDIO_IN, f);
	/* Also for a pty: custody-init reports errors there. */
	if (r == 0)
		r = open_out(s, STDIO_ERR, user[STDIO_ERR], f);
	if (r < 0)
		return r;
	/* One pipe for both keeps the order of their output. */
	if (pty & 1U << STDIO_OUT || is_same(user[STDIO_OUT], user[STDIO_ERR])) {
		s->merged = true;
		s->child[STDIO_OUT] = fcntl(s->child[STDIO_ERR], F_DUPFD_CLOEXEC, 3);
		return s->child[STDIO_OUT] < 0 ? fault_errno(f, errno, "standard output") : 0;
	}
	return open_out(s, STDIO_OUT, user[STDIO_OUT], f);
}

int stdio_use_terminal(struct stdio *s, const struct terminal_plan *p, int master, struct fault *f)
{
	bool own;
	int out;

	if (set_nonblocking(master, f) < 0)
		return -EIO;
	out = reopen_terminal(p->screen, &own);
	pump_init(&s->pump[STDIO_SCREEN], master, false, out, own);
	pump_init(&s->pump[STDIO_KEYS], p->keys, false, master, false);
	/* The end of a line-wise input is a character there, not a closed descriptor. */
	s->pump[STDIO_KEYS].end = p->shared || p->fd < 0 ? '\4' : '\0';
	return 0;
}

void stdio_remember(struct stdio *s, struct tail *t)
{
	s->pump[STDIO_OUT].tail = t;
	s->pump[STDIO_ERR].tail = t;
	s->pump[STDIO_SCREEN].tail = t;
}

void stdio_log(struct stdio *s, struct output_log *l)
{
	if (!l)
		return;
	pump_log(&s->pump[STDIO_OUT], l);
	pump_log(&s->pump[STDIO_ERR], l);
}

void stdio_watch_lines(struct stdio *s)
{
	pump_watch(&s->pump[STDIO_OUT]);
	pump_watch(&s->pump[STDIO_ERR]);
}

/* Where both streams are one file, both go through the pump of standard error. */
bool stdio_has_open_line(const struct stdio *s)
{
	char last = s->pty & 1U << STDIO_OUT  ? s->pump[STDIO_SCREEN].last
		    : s->pump[STDIO_OUT].last ? s->pump[STDIO_OUT].last
		    : s->merged		      ? s->pump[STDIO_ERR].last
					      : 0;

	return last && last != '\n';
}

void stdio_close_child(struct stdio *s)
{
	for (int i = 0; i < STDIO_N; i++)
		s->child[i] = fd_close(s->child[i]);
}

void stdio_end_input(struct stdio *s)
{
	struct pump *p = &s->pump[STDIO_IN];
	int unread = 0;

	if (s->input >= 0 && p->out >= 0 && ioctl(p->out, FIONREAD, &unread) == 0)
		(void)lseek(s->input, -((off_t)unread + (off_t)p->len), SEEK_CUR);
	s->input = -EBADF;
	pump_close(p);
	pump_close(&s->pump[STDIO_KEYS]);
}

void stdio_done(struct stdio *s)
{
	stdio_close_child(s);
	for (int i = 0; i < STDIO_PUMPS; i++)
		pump_close(&s->pump[i]);
}
