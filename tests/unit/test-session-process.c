/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process.h"
#include "session/session-process.h"

#include "tap.h"

static char dir[] = "/tmp/test-session-process-XXXXXX", file[64];
static int dirfd_ = -EBADF;

/* A process that waits for a signal; the test is its parent. */
static pid_t start(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			(void)pause();
	return pid;
}

static bool is_killed(pid_t pid)
{
	int status;

	return waitpid(pid, &status, WNOHANG) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static bool lives(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static bool put(const char *text)
{
	return fd_replace_file(dirfd_, SESSION_PROCESS, text, strlen(text), 0600, NULL) == 0;
}

static void a_directory_is_made(void)
{
	CHECK(mkdtemp(dir));
	(void)snprintf(file, sizeof(file), "%s/" SESSION_PROCESS, dir);
	dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dirfd_ >= 0);
}

static void the_noted_process_is_killed(void)
{
	pid_t pid;

	/* valgrind 3.19 has no pidfd_open. */
	if (tap_has("CUSTODY_TEST_VALGRIND", "1"))
		return;
	pid = start();
	CHECK(pid > 0 && session_process_note(file, pid, NULL) == 0);
	session_process_kill(dirfd_);
	CHECK(is_killed(pid));
	CHECK(unlink(file) == 0);
}

static void a_second_note_is_refused(void)
{
	CHECK(session_process_note(file, getpid(), NULL) == 0);
	CHECK(session_process_note(file, getpid(), NULL) == -EEXIST);
	CHECK(unlink(file) == 0);
}

static void a_process_that_took_the_pid_lives(void)
{
	pid_t pid = start();
	uint64_t began = 0;
	char text[64];

	CHECK(pid > 0 && process_start_time(pid, &began) == 1);
	(void)snprintf(text, sizeof(text), "%d %" PRIu64, (int)pid, began - 1);
	CHECK(put(text));
	session_process_kill(dirfd_);
	CHECK(lives(pid));
	end(pid);
}

static void a_damaged_file_kills_nothing(void)
{
	pid_t pid = start();
	static const char *const forms[] = { "",      "%d",  "%d ", "%d x",	    " %d",
					     "-%d 1", "0 1", "1 1", "99999999999 1" };
	char text[64];

	CHECK(pid > 0);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *at = strstr(forms[i], "%d");

		if (at)
			(void)snprintf(text, sizeof(text), "%.*s%d%s", (int)(at - forms[i]), forms[i],
				       (int)pid, at + 2);
		else
			(void)snprintf(text, sizeof(text), "%s", forms[i]);
		CHECK(put(text));
		session_process_kill(dirfd_);
		CHECK(lives(pid));
	}
	CHECK(unlink(file) == 0);
	session_process_kill(dirfd_);
	CHECK(lives(pid));
	end(pid);
}

static void a_link_or_fifo_is_no_file(void)
{
	pid_t pid = start();
	char other[80];

	(void)snprintf(other, sizeof(other), "%s/other", dir);
	CHECK(pid > 0 && session_process_note(other, pid, NULL) == 0);
	CHECK(symlink("other", file) == 0);
	session_process_kill(dirfd_);
	CHECK(lives(pid));
	CHECK(unlink(file) == 0 && mkfifo(file, 0600) == 0);
	session_process_kill(dirfd_);
	CHECK(lives(pid));
	CHECK(unlink(file) == 0 && unlink(other) == 0);
	end(pid);
}

static void the_directory_is_removed(void)
{
	CHECK(rmdir(dir) == 0);
}

TAP_MAIN(T(a_directory_is_made), T(the_noted_process_is_killed), T(a_second_note_is_refused),
	 T(a_process_that_took_the_pid_lives), T(a_damaged_file_kills_nothing), T(a_link_or_fifo_is_no_file),
	 T(the_directory_is_removed))
