/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process-keeper.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/process-children.h"
#include "tap.h"

#define CHAINS 8
#define ALARM_S 20 /* ends what the keeper should have ended */

/* Forks and ends, and so does its child, as long as it is let. */
static _Noreturn void run_on(bool leaves)
{
	for (;;) {
		pid_t pid;

		if (leaves)
			(void)setsid();
		pid = fork();
		if (pid > 0)
			_exit(0);
	}
}

static void run_chains(bool leaves)
{
	for (int i = 0; i < CHAINS; i++)
		if (fork() == 0)
			run_on(leaves);
}

static void run_chains_of_a_group(void)
{
	run_chains(false);
}

static void run_chains_that_leave(void)
{
	run_chains(true);
}

static void leave_a_tree(void)
{
	if (fork() == 0) {
		(void)setsid();
		if (fork() == 0)
			(void)setsid();
		(void)alarm(ALARM_S);
		(void)pause();
	}
}

static _Noreturn void keep(void (*program)(void), pid_t parent)
{
	pid_t pid;
	int status;

	if (process_keeper_begin(parent) < 0)
		_exit(1);
	pid = fork();
	if (pid == 0) {
		(void)setsid();
		program();
		_exit(7);
	}
	status = process_keeper_wait(pid);
	process_keeper_end();
	_exit(status);
}

/* The status of a keeper of PROGRAM, if all that the program started has ended: all of them have an end of the pipe. */
static int keep_and_look(void (*program)(void))
{
	const pid_t own = getpid();
	int fd[2], status = -1;
	char byte;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		keep(program, own);
	(void)close(fd[1]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	status = read(fd[0], &byte, 1) == 0 ? WEXITSTATUS(status) : -1;
	(void)close(fd[0]);
	return status;
}

static void nothing_that_a_program_started_is_left(void)
{
	CHECK(keep_and_look(leave_a_tree) == 7);
	CHECK(keep_and_look(run_chains_of_a_group) == 7);
	CHECK(keep_and_look(run_chains_that_leave) == 7);
}

/* PROGRAM of another user, who cannot be told to end: the keeper ends all the same. */
static void what_cannot_be_killed_is_not_awaited(void)
{
	const pid_t own = getpid();
	int fd[2], status = -1;
	pid_t pid, program = -1;
	ssize_t n;

	if (geteuid() != 0 || tap_has("CUSTODY_TEST_VALGRIND", "1"))
		return;
	CHECK(pipe2(fd, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		(void)alarm(ALARM_S);
		if (process_keeper_begin(own) < 0)
			_exit(1);
		program = fork();
		if (program == 0) {
			(void)alarm(ALARM_S);
			(void)setsid();
			(void)pause();
		}
		if (write(fd[1], &program, sizeof(program)) < 0 || setresuid(65534, 65534, 65534) < 0)
			_exit(1);
		process_keeper_end();
		_exit(3);
	}
	/* A keeper that cannot begin writes nothing: that is the end of the pipe. */
	(void)close(fd[1]);
	n = read(fd[0], &program, sizeof(program));
	/* Also then: the next test counts the children. */
	CHECK(waitpid(pid, &status, 0) == pid && n == (ssize_t)sizeof(program));
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	CHECK(kill(program, SIGKILL) == 0);
	(void)close(fd[0]);
}

static void children_are_listed_with_and_without_the_kernels_list(void)
{
	pid_t a[4], b[4], made[2] = { -1, -1 };

	CHECK(process_children(a, ARRAY_SIZE(a)) == 0 && process_children_scan(b, ARRAY_SIZE(b)) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		made[i] = fork();
		if (made[i] == 0) {
			(void)pause();
			_exit(0);
		}
	}
	CHECK(process_children(a, ARRAY_SIZE(a)) == 2 && process_children_scan(b, ARRAY_SIZE(b)) == 2);
	CHECK(a[0] + a[1] == made[0] + made[1] && (a[0] == made[0] || a[0] == made[1]));
	CHECK(b[0] + b[1] == made[0] + made[1] && (b[0] == made[0] || b[0] == made[1]));
	CHECK(process_children(a, 1) == 1 && process_children_scan(b, 1) == 1);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		CHECK(kill(made[i], SIGKILL) == 0 && waitpid(made[i], NULL, 0) == made[i]);
}

TAP_MAIN(T(nothing_that_a_program_started_is_left), T(what_cannot_be_killed_is_not_awaited),
	 T(children_are_listed_with_and_without_the_kernels_list))
