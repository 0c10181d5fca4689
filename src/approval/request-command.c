/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/request-command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/process.h"
#include "base/str.h"

#define NS_PER_S UINT64_C(1000000000)

/* A file and not a pipe: a program that does not read cannot block us. */
static int write_input(const struct jdoc *request, struct fault *f)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_close_ int fd = -EBADF;
	int r = jdoc_write(request, JDOC_CANONICAL, &b, f);

	if (r < 0)
		return r;
	strbuf_putc(&b, '\n');
	if (b.broken)
		return fault_errno(f, ENOMEM, "request");
	fd = memfd_create("request", MFD_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "request");
	r = fd_write_all(fd, b.text, b.len, f);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return fault_errno(f, errno, "request");
	return TAKE_FD(fd);
}

static void child(char *const *argv, int input)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	process_restore_signals();
	(void)setpgid(0, 0);
	if (dup2(input, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(126);
	(void)execvp(argv[0], argv);
	_exit(errno == ENOENT ? 127 : 126);
}

static int say_end(const char *program, int status, struct fault *f)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return fault_set(f, ENOENT, "on_request: '%s' not found", program);
	if (WIFEXITED(status))
		return fault_set(f, EIO, "on_request: '%s' exited with status %d", program,
				 WEXITSTATUS(status));
	return fault_set(f, EIO, "on_request: '%s' was killed by signal %d", program, WTERMSIG(status));
}

/* SIGCHLD is blocked: it stays pending, whether it arrives before or during the call. */
static bool has_ended(pid_t pid, unsigned int seconds, const sigset_t *child, int *ret_status)
{
	const uint64_t end = clock_boot_ns() + (uint64_t)seconds * NS_PER_S;

	for (;;) {
		uint64_t now = clock_boot_ns();
		struct timespec left = { 0 };

		if (waitpid(pid, ret_status, WNOHANG) == pid)
			return true;
		if (now >= end)
			return false;
		left.tv_sec = (time_t)((end - now) / NS_PER_S);
		left.tv_nsec = (long)((end - now) % NS_PER_S);
		(void)sigtimedwait(child, NULL, &left);
	}
}

static int await(pid_t pid, const char *program, unsigned int seconds, const sigset_t *child, struct fault *f)
{
	int status = 0;

	if (has_ended(pid, seconds, child, &status))
		return say_end(program, status, f);
	(void)kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return fault_set(f, ETIME, "on_request: '%s' did not exit within %u s and was killed", program,
			 seconds);
}

int request_command_run(char *const *argv, const char *id, const struct jdoc *request, unsigned int seconds,
			struct fault *f)
{
	_cleanup_strv_ char **words = strv_copy(argv);
	_cleanup_close_ int input = -EBADF;
	sigset_t child_ended, before;
	pid_t pid;
	int r;

	if (!words || !words[0] || strv_append(&words, id) < 0)
		return fault_errno(f, words && !words[0] ? EINVAL : ENOMEM, "on_request");
	input = write_input(request, f);
	if (input < 0)
		return input;
	(void)sigemptyset(&child_ended);
	(void)sigaddset(&child_ended, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child_ended, &before);
	pid = fork();
	if (pid == 0)
		child(words, input);
	/* In both processes, so that the group exists whichever runs first. */
	if (pid > 0)
		(void)setpgid(pid, pid);
	r = pid < 0 ? fault_errno(f, errno, "on_request") : await(pid, words[0], seconds, &child_ended, f);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
