/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/parent-status.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "parent/parent-proto.h"
#include "tap.h"

/* custody-parent of a process of our own: it is the parent, we are the warden and, once it has exited, the engine. */
struct family {
	int socket;
	pid_t parent, child;
};

static _Noreturn void become_parent(int far, int told, const char *script)
{
	const char *build = getenv("BUILDDIR");
	char path[4096];
	pid_t child = fork();

	if (child == 0) {
		(void)execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	(void)!write(told, &child, sizeof(child));
	(void)snprintf(path, sizeof(path), "%s/custody-parent", build ? build : ".");
	(void)dup2(far, STDIN_FILENO);
	(void)execl(path, "custody-parent", (char *)NULL);
	_exit(127);
}

static bool begin(struct family *a, const char *script)
{
	int pair[2], told[2];

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 || pipe(told) < 0)
		return false;
	a->socket = pair[0];
	a->parent = fork();
	if (a->parent == 0)
		become_parent(pair[1], told[1], script);
	(void)fd_close(pair[1]);
	(void)fd_close(told[1]);
	if (read(told[0], &a->child, sizeof(a->child)) != (ssize_t)sizeof(a->child))
		return false;
	(void)fd_close(told[0]);
	return send(a->socket, &(struct parent_word){ .value = a->child }, sizeof(struct parent_word), 0) > 0;
}

/* Both have the same status, and the engine gets it after the warden. */
static bool agrees(const char *script)
{
	struct family a;
	int seen = -1, reaped = -2;

	if (!begin(&a, script) || !parent_status_read(&a.socket, 30000, &seen) || a.socket != -EBADF)
		return false;
	return waitpid(a.parent, NULL, 0) == a.parent && waitpid(a.child, &reaped, 0) == a.child &&
	       seen == reaped;
}

static void the_status_is_that_of_wait(void)
{
	CHECK(agrees("exit 0"));
	CHECK(agrees("exit 137"));
	CHECK(agrees("kill -KILL $$"));
	CHECK(agrees("ulimit -c 0; kill -SEGV $$"));
}

static void orphans_do_not_count(void)
{
	CHECK(agrees("(true & exit 0); (exit 9); exit 3"));
}

static void one_that_was_killed_reports_nothing(void)
{
	struct family a;
	int status;

	CHECK(begin(&a, "exec sleep 100"));
	CHECK(!parent_status_read(&a.socket, 0, &status) && a.socket >= 0);
	CHECK(kill(a.parent, SIGKILL) == 0);
	CHECK(!parent_status_read(&a.socket, 30000, &status) && a.socket == -EBADF);
	CHECK(waitpid(a.parent, NULL, 0) == a.parent);
	CHECK(kill(a.child, SIGKILL) == 0 && waitpid(a.child, &status, 0) == a.child);
}

static void one_that_is_released_leaves_its_process(void)
{
	struct family a;
	int status;

	CHECK(begin(&a, "exec sleep 100"));
	parent_status_release(&a.socket);
	CHECK(kill(a.child, SIGKILL) == 0 && waitpid(a.parent, NULL, 0) == a.parent);
	CHECK(waitpid(a.child, &status, 0) == a.child && WIFSIGNALED(status));
}

TAP_MAIN(T(the_status_is_that_of_wait), T(orphans_do_not_count), T(one_that_was_killed_reports_nothing),
	 T(one_that_is_released_leaves_its_process))
