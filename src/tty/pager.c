/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/pager.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/process.h"
#include "base/str.h"

#define DEFAULT "less"
#define SHELL "/bin/sh"
/* Statuses of a shell that could not start the program. */
#define NOT_EXECUTED 126
#define NOT_FOUND 127

static bool is_executable(const char *dir, size_t len, const char *name)
{
	_cleanup_free_ char *full = NULL;

	return asprintf(&full, "%.*s/%s", len ? (int)len : 1, len ? dir : ".", name) >= 0 &&
	       access(full, X_OK) == 0;
}

/* Is the program of COMMAND there?  A command that needs a shell is not looked into: the shell says so itself. */
static bool is_found(const char *command)
{
	_cleanup_free_ char *name = strndup(command, strcspn(command, " \t"));
	const char *path = getenv("PATH");

	if (!name || strpbrk(command, "|&;<>()$`\\\"'*?[#~=%\n"))
		return true;
	if (strchr(name, '/'))
		return access(name, X_OK) == 0;
	for (const char *p = path; p; p = *p ? p + 1 : NULL) {
		size_t n = strcspn(p, ":");

		if (is_executable(p, n, name))
			return true;
		p += n;
	}
	return false;
}

const char *pager_choose(const char **ret_missing)
{
	static const char *const names[] = { "CUSTODY_PAGER", "GIT_PAGER", "PAGER" };
	const char *command = NULL;

	*ret_missing = NULL;
	for (size_t i = 0; !command && i < sizeof(names) / sizeof(*names); i++)
		command = getenv(names[i]);
	if (!command)
		return is_found(DEFAULT) ? DEFAULT : NULL;
	if (!*command || str_eq(command, "cat"))
		return NULL;
	if (is_found(command))
		return command;
	*ret_missing = command;
	return NULL;
}

/* In the child.  Its own copy of OUT would keep the pipe open after the end of the output. */
static _Noreturn void show(int in, int out, const char *command)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	(void)close(out);
	if (dup2(in, STDIN_FILENO) < 0)
		_exit(NOT_EXECUTED);
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	if (!(p.revents & POLLIN))
		_exit(0);
	process_restore_signals();
	if (setenv("LESS", "FRX", 0) == 0 && setenv("LV", "-c", 0) == 0)
		(void)execl(SHELL, "sh", "-c", command, (char *)NULL);
	_exit(NOT_EXECUTED);
}

int pager_open(struct pager *p, const char *command, struct fault *f)
{
	_cleanup_close_ int in = -EBADF, out = -EBADF, terminal = -EBADF;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "pipe to the pager");
	in = ends[0];
	out = ends[1];
	terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (terminal < 0)
		return fault_errno(f, errno, "stdout");
	pid = fork();
	if (pid < 0)
		return fault_errno(f, errno, "start the pager");
	if (pid == 0)
		show(in, out, command);
	process_ignore_sigpipe();
	*p = (struct pager){ .pid = pid, .terminal = TAKE_FD(terminal), .command = command };
	return dup2(out, STDOUT_FILENO) < 0 ? fault_errno(f, errno, "stdout of the pager") : 0;
}

void pager_begin(const struct pager *p)
{
	if (!p->pid)
		return;
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGQUIT, SIG_IGN);
}

int pager_close(struct pager *p, struct fault *f)
{
	int status = 0;

	if (!p->pid)
		return 0;
	/* The pager may be gone already; the rest must not appear on the terminal. */
	(void)fflush(stdout);
	__fpurge(stdout);
	clearerr(stdout);
	(void)dup2(p->terminal, STDOUT_FILENO);
	p->terminal = fd_close(p->terminal);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGQUIT, SIG_DFL);
	if (WIFEXITED(status) && (WEXITSTATUS(status) == NOT_EXECUTED || WEXITSTATUS(status) == NOT_FOUND))
		return fault_set(f, ENOENT,
				 "cannot run the pager '%s': set PAGER to a program, or use --no-pager",
				 p->command);
	return 0;
}
