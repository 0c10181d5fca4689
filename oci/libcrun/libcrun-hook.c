/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/libcrun/libcrun-wrap.h"

/*
 * One hook of a container, in place of libcrun's function (--wrap, see local.mk), which is ended by SIGPIPE or fails when a
 * hook exits without reading its stdin.  The runtime specification does not require a hook to read it.
 *
 * Only calls that a container's seccomp filter allows: startContainer hooks run behind it.
 */
struct hook {
	char *path, **args, **envp;
	const char *cwd;
	bool cwd_is_optional; /* the process may lack the permission */
	int out_fd, err_fd;   /* negative: /dev/null */
	int64_t deadline;     /* negative: none; else SIGCHLD is blocked */
	sigset_t mask;	      /* of the caller */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* Milliseconds until DEADLINE, or until INT_MAX, which is asked again; -1: no limit. */
static int remaining(int64_t deadline)
{
	int64_t left = deadline - now_ms();

	if (deadline < 0)
		return -1;
	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static void put_output(int fd, int null_fd, int as)
{
	if (dup2(fd >= 0 ? fd : null_fd, as) < 0)
		_exit(EXIT_FAILURE);
}

__attribute__((noreturn)) static void execute(const struct hook *h, int in_fd)
{
	char *only[] = { h->path, NULL };
	sigset_t mask = h->mask;
	int null_fd;

	/* The hook's signals are those of the caller, but SIGPIPE is neither ignored nor blocked. */
	(void)sigdelset(&mask, SIGPIPE);
	if (signal(SIGPIPE, SIG_DFL) == SIG_ERR || sigprocmask(SIG_SETMASK, &mask, NULL) < 0 ||
	    fd_mark_cloexec(3, NULL) < 0)
		_exit(EXIT_FAILURE);
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if ((null_fd < 0 && (h->out_fd < 0 || h->err_fd < 0)) || dup2(in_fd, STDIN_FILENO) < 0)
		_exit(EXIT_FAILURE);
	put_output(h->out_fd, null_fd, STDOUT_FILENO);
	put_output(h->err_fd, null_fd, STDERR_FILENO);
	if (h->cwd && chdir(h->cwd) < 0 && !(h->cwd_is_optional && errno == EACCES))
		_exit(EXIT_FAILURE);
	(void)execvpe(h->path, h->args ? h->args : only, h->envp);
	_exit(EXIT_FAILURE);
}

/*
 * A hook that does not read all of it, or has exited, is not an error: its exit status says whether it failed.  FD does not
 * block, so that the time limit also holds for a hook that reads nothing.
 */
static void feed(int fd, const char *bytes, size_t len, int64_t deadline)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			if (poll(&p, 1, remaining(deadline)) == 0)
				return;
		} else if (n < 0 && errno != EINTR) {
			return;
		}
	}
}

/* SIGPIPE is ignored only around the write: the process may become the payload. */
static void feed_quietly(int fd, const char *bytes, size_t len, int64_t deadline)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction was;

	(void)sigaction(SIGPIPE, &ignore, &was);
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	feed(fd, bytes, len, deadline);
	(void)sigaction(SIGPIPE, &was, NULL);
}

static pid_t reap(pid_t pid, int *status, int flags)
{
	pid_t ended;

	do
		ended = waitpid(pid, status, flags);
	while (ended < 0 && errno == EINTR);
	return ended;
}

static int wait_for(const struct hook *h, pid_t pid, libcrun_error_t *err)
{
	pid_t ended;
	int status;

	while ((ended = reap(pid, &status, h->deadline < 0 ? 0 : WNOHANG)) == 0) {
		int left = remaining(h->deadline);
		const struct timespec wait = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000L };
		sigset_t child;

		if (left == 0) {
			(void)kill(pid, SIGKILL);
			(void)reap(pid, &status, 0);
			return libcrun_make_error(err, 0, "timeout expired for `%s`", h->path);
		}
		(void)sigemptyset(&child);
		(void)sigaddset(&child, SIGCHLD);
		(void)sigtimedwait(&child, NULL, &wait);
	}
	if (ended < 0)
		return libcrun_make_error(err, errno, "waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run(const struct hook *h, const char *input, size_t len, libcrun_error_t *err)
{
	_cleanup_close_ int from = -EBADF, to = -EBADF;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return libcrun_make_error(err, errno, "pipe");
	from = ends[0];
	to = ends[1];
	pid = fork();
	if (pid < 0)
		return libcrun_make_error(err, errno, "fork");
	if (pid == 0)
		execute(h, from);
	from = fd_close(from);
	feed_quietly(to, input, len, h->deadline);
	to = fd_close(to);
	return wait_for(h, pid, err);
}

/* Returns the exit status (128 + signal), or negative with ERR set. */
int __wrap_run_process_with_stdin_timeout_envp(HOOK_PARAMETERS)
{
	struct hook h = { .path = path,
			  .args = args,
			  .envp = envp,
			  .cwd = cwd,
			  .cwd_is_optional = HOOK_CWD_IS_OPTIONAL,
			  .out_fd = out_fd,
			  .err_fd = err_fd,
			  .deadline = timeout > 0 ? now_ms() + timeout * INT64_C(1000) : -1 };
	sigset_t child;
	int r;

	(void)sigemptyset(&child);
	if (timeout > 0)
		(void)sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child, &h.mask) < 0)
		return libcrun_make_error(err, errno, "sigprocmask");
	r = run(&h, input, input_len, err);
	(void)sigprocmask(SIG_SETMASK, &h.mask, NULL);
	return r;
}
