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

bool terminal_is_one(const int fd[3])
{
	struct stat st[3];

	for (int i = 0; i < 3; i++)
		if (!isatty(fd[i]) || fstat(fd[i], &st[i]) < 0 || st[i].st_rdev != st[0].st_rdev)
			return false;
	return true;
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

int terminal_attach(struct terminal *t, int fd, int master, struct fault *f)
{
	struct termios raw;
	int r;

	t->fd = fd;
	t->master = master;
	/*
	 * With -t but without a terminal of the caller the payload has a pty, but there are no modes to
	 * change.
	 */
	if (tcgetattr(fd, &t->saved) < 0) {
		t->fd = -EBADF;
		return 0;
	}
	terminal_resize(t);
	r = start_guard(t, f);
	if (r < 0)
		return r;
	raw = t->saved;
	cfmakeraw(&raw);
	if (tcsetattr(fd, TCSADRAIN, &raw) < 0)
		return fault_errno(f, errno, "set the terminal to raw mode");
	return 0;
}

void terminal_restore(struct terminal *t)
{
	if (t->guard >= 0) {
		(void)tcsetattr(t->fd, TCSADRAIN, &t->saved);
		(void)!write(t->guard_fd, "", 1);
		t->guard_fd = fd_close(t->guard_fd);
		while (waitpid(t->guard, NULL, 0) < 0 && errno == EINTR)
			;
		t->guard = -1;
	}
	t->master = fd_close(t->master);
	t->fd = -EBADF;
}
