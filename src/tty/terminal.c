/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static bool is_same(int a, int b)
{
	struct stat x, y;

	return isatty(a) && fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_rdev == y.st_rdev;
}

struct terminal_plan terminal_plan(const int fd[3], bool always)
{
	struct terminal_plan p = { .fd = -EBADF, .keys = -EBADF, .screen = -EBADF };

	if (always) {
		p.pty = TERMINAL_ALL;
		p.fd = isatty(fd[0]) ? fd[0] : -EBADF;
		p.keys = fd[0];
		p.screen = fd[1];
		p.lines = true;
		return p;
	}
	for (int i = 0; i < 3; i++) {
		if (!isatty(fd[i]) || (p.fd >= 0 && !is_same(fd[i], p.fd)))
			continue;
		if (p.fd < 0)
			p.fd = fd[i];
		p.pty |= 1U << i;
	}
	if (p.pty == 0)
		return p;
	p.screen = p.fd;
	p.keys = p.fd;
	p.lines = p.pty & 1U;
	p.shared = !p.lines || is_pipe(fd[1]);
	return p;
}

/* The guard ignores keyboard signals that stop or end its supervisor; only the end of the pipe counts. */
static void guard(int end, int tty, const struct termios *saved)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE };
	char done = 0;
	ssize_t n;

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	do
		n = read(end, &done, 1);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		(void)tcsetattr(tty, TCSANOW, saved);
	_exit(0);
}

static int start_guard(struct terminal *t, struct fault *f)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "start the guard process of the terminal");
	t->guard = fork();
	if (t->guard < 0) {
		(void)fd_close(fd[0]);
		(void)fd_close(fd[1]);
		return fault_errno(f, errno, "start the guard process of the terminal");
	}
	if (t->guard == 0) {
		/* No descriptor of the supervisor may stay open here: locks, pipes, init's socket. */
		if (dup2(fd[0], 3) < 0 || dup2(t->fd, 4) < 0 || close_range(5, ~0U, 0) < 0)
			_exit(1);
		guard(3, 4, &t->saved);
	}
	(void)fd_close(fd[0]);
	t->guard_fd = fd[1];
	return 0;
}

void terminal_resize(const struct terminal *t)
{
	struct winsize size;

	if (t->master >= 0 && ioctl(t->fd, TIOCGWINSZ, &size) == 0)
		(void)ioctl(t->master, TIOCSWINSZ, &size);
}

int terminal_hold(struct terminal *t, int fd, struct fault *f)
{
	if (tcgetattr(fd, &t->saved) < 0)
		return fault_errno(f, errno, "read the modes of the terminal");
	t->fd = fd;
	return start_guard(t, f);
}

/* A terminal that does not control this process cannot stop it. */
static bool is_foreground(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group < 0 || group == getpgrp();
}

/* Does the payload read single keys from its pty? */
static bool payload_reads_keys(const struct terminal *t)
{
	struct termios modes;

	return tcgetattr(t->master, &modes) == 0 && !(modes.c_lflag & ICANON);
}

/* The caller's terminal shows the typed line and its line ends: the pty must not do that again. */
static void set_plain(int master)
{
	struct termios modes;

	if (tcgetattr(master, &modes) < 0)
		return;
	modes.c_lflag &= ~(tcflag_t)ECHO;
	modes.c_oflag &= ~(tcflag_t)OPOST;
	(void)tcsetattr(master, TCSANOW, &modes);
}

int terminal_attach(struct terminal *t, const struct terminal_plan *p, int master, struct fault *f)
{
	t->fd = p->fd;
	t->master = master;
	t->shared = p->shared;
	t->lines = p->lines;
	/* With -t but without a terminal of the caller there are no modes to change. */
	if (t->fd < 0)
		return 0;
	terminal_resize(t);
	if (t->shared)
		set_plain(master);
	return terminal_follow(t, f);
}

static int take(struct terminal *t, struct fault *f)
{
	struct termios raw;
	int r;

	if (tcgetattr(t->fd, &t->saved) < 0) {
		/* It was closed: nothing to change, nothing to restore. */
		t->fd = -EBADF;
		return 0;
	}
	/* Another program of the pipeline reads keys. */
	if (t->shared && !(t->saved.c_lflag & ICANON))
		return 0;
	r = start_guard(t, f);
	if (r < 0)
		return r;
	t->raw = true;
	raw = t->saved;
	cfmakeraw(&raw);
	if (tcsetattr(t->fd, TCSADRAIN, &raw) < 0)
		return fault_errno(f, errno, "set the terminal to raw mode");
	terminal_resize(t);
	return 0;
}

/* The modes of a terminal in the background belong to the program in the foreground. */
static void give_back(struct terminal *t)
{
	if (t->guard < 0)
		return;
	if (!t->raw || is_foreground(t->fd))
		(void)tcsetattr(t->fd, TCSADRAIN, &t->saved);
	(void)!write(t->guard_fd, "", 1);
	t->guard_fd = fd_close(t->guard_fd);
	while (waitpid(t->guard, NULL, 0) < 0 && errno == EINTR)
		;
	t->guard = -1;
	t->raw = false;
}

int terminal_follow(struct terminal *t, struct fault *f)
{
	bool wanted;

	if (t->fd < 0)
		return 0;
	wanted = !t->shared || payload_reads_keys(t);
	if (wanted && !t->raw)
		return is_foreground(t->fd) ? take(t, f) : 0;
	if (!wanted && t->raw)
		give_back(t);
	return 0;
}

bool terminal_may_read(const struct terminal *t)
{
	struct termios modes;

	if (t->fd < 0)
		return true;
	if (!is_foreground(t->fd))
		return false;
	return t->raw || (t->shared && t->lines && tcgetattr(t->fd, &modes) == 0 && modes.c_lflag & ICANON);
}

void terminal_restore(struct terminal *t)
{
	give_back(t);
	t->master = fd_close(t->master);
	t->fd = -EBADF;
}
