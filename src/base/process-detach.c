/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process-detach.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A reader of the caller's output, and a process that waits for its locks, must not wait for this one. */
static void close_all(int keep)
{
	if (keep < 0) {
		(void)syscall(SYS_close_range, 0U, ~0U, 0U);
	} else {
		(void)syscall(SYS_close_range, 0U, (unsigned int)keep - 1, 0U);
		(void)syscall(SYS_close_range, (unsigned int)keep + 1, ~0U, 0U);
	}
	for (int i = 0; i < 3; i++) /* 0, 1 and 2 exist */
		(void)!fcntl(open("/dev/null", O_RDWR), F_GETFD);
}

static void leave(const char *name, int keep)
{
	sigset_t none;

	close_all(keep);
	(void)setsid();
	(void)!chdir("/");
	(void)prctl(PR_SET_NAME, name);
	for (int s = 1; s < NSIG; s++)
		(void)signal(s, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

int process_detach(const char *name, int keep)
{
	pid_t pid;
	int status;

	assert(keep < 0 || keep > 2);
	pid = fork();
	if (pid == 0) {
		pid = fork();
		if (pid == 0) {
			leave(name, keep);
			return 0;
		}
		_exit(pid < 0);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : -EAGAIN;
}
