/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process-keeper.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/exit-status.h"
#include "base/process-children.h"

#define MS UINT64_C(1000000)
#define CHILDREN_MAX 1024 /* of one pass */
#define PASS_MS 100

int process_keeper_begin(pid_t parent)
{
	sigset_t signals;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGCHLD);
	(void)sigprocmask(SIG_SETMASK, &signals, NULL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)setsid();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

bool process_keeper_is_told(void)
{
	sigset_t pending;

	return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

int process_keeper_wait(pid_t program)
{
	sigset_t signals;

	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGCHLD);
	for (;;) {
		int sig = sigwaitinfo(&signals, NULL), status;
		pid_t pid;

		if (sig == SIGTERM)
			return STATUS_SIGNAL_BASE + SIGKILL;
		/* Processes that the program left may end as fast as others begin. */
		while (!process_keeper_is_told() && (pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == program)
				return WIFSIGNALED(status) ? STATUS_SIGNAL_BASE + WTERMSIG(status)
							   : WEXITSTATUS(status);
	}
}

/*
 * Its group at once: a process that forks meanwhile cannot leave it behind.  The group has none but ours, because groups are within
 * a session, and its number is not given away before PID was waited for.
 */
static void kill_child(pid_t pid)
{
	const pid_t group = getpgid(pid);

	if (group > 1 && group != getpgrp())
		(void)kill(-group, SIGKILL);
	(void)kill(pid, SIGKILL);
}

/* False: no child is left. */
static bool kill_children(void)
{
	pid_t children[CHILDREN_MAX], pid = 1;
	const size_t n = process_children(children, ARRAY_SIZE(children));

	for (size_t i = 0; i < n; i++)
		kill_child(children[i]);
	/* Not until none has ended: they may end as fast as others begin. */
	for (size_t i = 0; pid > 0 && i <= n; i++)
		pid = waitpid(-1, NULL, WNOHANG);
	return pid >= 0;
}

/* The children of one that was killed are ours then. */
void process_keeper_end(void)
{
	const uint64_t end_ns = clock_boot_ns() + KEEPER_END_MS * MS;
	const struct timespec pass = { .tv_nsec = (long)(PASS_MS * MS) };
	sigset_t chld;

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	while (kill_children() && clock_boot_ns() < end_ns)
		(void)sigtimedwait(&chld, NULL, &pass);
}
