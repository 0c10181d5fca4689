/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A container whose warden died is killed; a process that has its number by now is not. */
#include "container/container-orphan.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "tap.h"
#include "thread-fixture.h"
#include "tree-fixture.h"

static char *text(const char *t)
{
	return (char *)t;
}

/* As custody-hook leaves it. */
static bool leave(int dirfd, pid_t pid, uint64_t start)
{
	const struct container_info d = { .container = text("c"),
					  .bundle = text("/srv/b"),
					  .pid = pid,
					  .start = start,
					  .profile = text("plain"),
					  .workspace = PROFILE_WORKSPACE_OVERLAY,
					  .work = text("/work"),
					  .subject = text("{}"),
					  .subject_len = 2,
					  .config = text("{}"),
					  .config_len = 2 };

	return container_info_write(dirfd, &d, NULL) == 0;
}

static pid_t live(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(STDOUT_FILENO);
		for (;;)
			(void)pause();
	}
	return pid;
}

/* Starts a process and writes its container info to T, as if it had started OFFSET ticks later. */
static pid_t live_in(struct tree *t, uint64_t offset)
{
	const pid_t pid = live();
	uint64_t start = 0;

	return pid > 0 && process_start_time(pid, &start) == 1 && tree_make(t) &&
			       leave(t->fd, pid, start + offset)
		       ? pid
		       : -1;
}

/* By SIGKILL, and not reaped before. */
static bool was_killed(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static bool lives(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

/* Which knows no pidfd_open. */
static bool can_watch(void)
{
	return !tap_has("CUSTODY_TEST_VALGRIND", "1");
}

static void a_run_of_our_own_is_none(void)
{
	_cleanup_container_orphan_ struct container_orphan o = CONTAINER_ORPHAN_NONE;
	_cleanup_tree_ struct tree t = { 0 };

	CHECK(tree_make(&t) && container_orphan_end(t.fd, &o, NULL) == 0);
}

static void the_first_process_is_killed(void)
{
	_cleanup_container_orphan_ struct container_orphan o = CONTAINER_ORPHAN_NONE;
	_cleanup_tree_ struct tree t = { 0 };
	pid_t pid;

	if (!can_watch())
		return;
	pid = live_in(&t, 0);
	CHECK(pid > 0);
	CHECK(container_orphan_end(t.fd, &o, NULL) == 1);
	CHECK(was_killed(pid));
	/* It had the host's root: the path of the worktree means something else there. */
	CHECK(o.tree < 0 && o.why && strcmp(o.info.container, "c") == 0);
}

static void a_reused_pid_is_another_process(void)
{
	_cleanup_container_orphan_ struct container_orphan o = CONTAINER_ORPHAN_NONE;
	_cleanup_tree_ struct tree t = { 0 };
	pid_t pid;

	if (!can_watch())
		return;
	pid = live_in(&t, 1);
	CHECK(pid > 0);
	CHECK(container_orphan_end(t.fd, &o, NULL) == 1 && o.tree < 0 && o.why);
	CHECK(lives(pid));
	CHECK(kill(pid, SIGKILL) == 0 && was_killed(pid));
}

/* Threads have numbers too, and pidfd_open fails differently for a thread than for no process. */
static void a_pid_reused_as_a_thread_is_another_process(void)
{
	_cleanup_container_orphan_ struct container_orphan o = CONTAINER_ORPHAN_NONE;
	_cleanup_thread_ struct thread thread = THREAD_NONE;
	_cleanup_tree_ struct tree t = { 0 };
	uint64_t start = 0;

	if (!can_watch())
		return;
	CHECK(thread_start(&thread) && thread.tid != getpid());
	CHECK(process_start_time(thread.tid, &start) == 1);
	CHECK(tree_make(&t) && leave(t.fd, thread.tid, start - 1));
	/* Over, not "cannot be inspected": else no start would ever clean up after it. */
	CHECK(container_orphan_end(t.fd, &o, NULL) == 1 && o.tree < 0 && o.why);
}

static void one_that_is_gone_is_over(void)
{
	_cleanup_container_orphan_ struct container_orphan o = CONTAINER_ORPHAN_NONE;
	_cleanup_tree_ struct tree t = { 0 };
	uint64_t start = 0;
	pid_t pid = live();

	CHECK(pid > 0 && process_start_time(pid, &start) == 1 && kill(pid, SIGKILL) == 0 && was_killed(pid));
	CHECK(tree_make(&t) && leave(t.fd, pid, start));
	if (can_watch())
		CHECK(container_orphan_end(t.fd, &o, NULL) == 1 && o.tree < 0 && o.why);
}

TAP_MAIN(T(a_run_of_our_own_is_none), T(the_first_process_is_killed), T(a_reused_pid_is_another_process),
	 T(a_pid_reused_as_a_thread_is_another_process), T(one_that_is_gone_is_over))
