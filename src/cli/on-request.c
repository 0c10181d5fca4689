/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/on-request.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

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
		return fault_set(f, ENOENT, "on_request: '%s' was not found", program);
	if (WIFEXITED(status))
		return fault_set(f, EIO, "on_request: '%s' ended with status %d", program,
				 WEXITSTATUS(status));
	return fault_set(f, EIO, "on_request: '%s' was ended by signal %d", program, WTERMSIG(status));
}

static int await(pid_t pid, const char *program, unsigned int seconds, struct fault *f)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int status = 0, n = 0;

	if (fd >= 0)
		do
			n = poll(&p, 1, (int)seconds * 1000);
		while (n < 0 && errno == EINTR);
	if (n <= 0)
		(void)kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n <= 0)
		return fault_set(f, ETIME, "on_request: '%s' did not end within %u s and was killed", program,
				 seconds);
	return say_end(program, status, f);
}

int on_request_run(char *const *argv, const char *id, const struct jdoc *request, unsigned int seconds,
		   struct fault *f)
{
	_cleanup_strv_ char **words = strv_copy(argv);
	_cleanup_close_ int input = -EBADF;
	pid_t pid;

	if (!words || !words[0] || strv_append(&words, id) < 0)
		return fault_errno(f, words && !words[0] ? EINVAL : ENOMEM, "on_request");
	input = write_input(request, f);
	if (input < 0)
		return input;
	pid = fork();
	if (pid < 0)
		return fault_errno(f, errno, "on_request");
	if (pid == 0)
		child(words, input);
	/* Both sides, so that the group exists whoever comes first. */
	(void)setpgid(pid, pid);
	return await(pid, words[0], seconds, f);
}
