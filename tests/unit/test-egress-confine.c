/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <netdb.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "egress/egress-confine.h"
#include "tap.h"

static char path[] = "/tmp/custody-confine.XXXXXX";

static bool is_denied(int r)
{
	return r < 0 && errno == EACCES;
}

static bool finds_localhost(void)
{
	struct addrinfo *list = NULL;

	if (getaddrinfo("localhost", "80", NULL, &list) != 0)
		return false;
	freeaddrinfo(list);
	return true;
}

/* A machine without /etc/hosts does not.  In a child, so that a confined process loads the resolver's modules itself. */
static bool finds_localhost_unconfined(void)
{
	pid_t pid = fork();
	int waited;

	if (pid == 0)
		_exit(finds_localhost() ? 0 : 1);
	return pid > 0 && waitpid(pid, &waited, 0) == pid && waited == 0;
}

/* In a child: 0, or the number of the line that failed. */
static int confined(bool has_localhost)
{
	char *const argv[] = { (char[]){ "true" }, NULL };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || egress_confine(NULL) < 0)
		return __LINE__;
	if (!is_denied(open(path, O_RDONLY | O_CLOEXEC)) || !is_denied(open(path, O_WRONLY | O_CLOEXEC)))
		return __LINE__;
	if (!is_denied(open("/proc/self/environ", O_RDONLY | O_CLOEXEC)) ||
	    !is_denied(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
		return __LINE__;
	if (!is_denied(open("/tmp/custody-confine-new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) ||
	    !is_denied(unlink(path)))
		return __LINE__;
	if (!is_denied(execv("/bin/true", argv)))
		return __LINE__;
	return has_localhost && !finds_localhost() ? __LINE__ : 0;
}

static void DOOR_4_a_confined_resolver_reads_no_other_file_and_executes_nothing(void)
{
	const bool has_landlock =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
	const bool has_localhost = finds_localhost_unconfined();
	int fd = mkstemp(path), waited = 0;
	pid_t pid;

	CHECK(fd >= 0);
	(void)close(fd);
	pid = fork();
	if (pid == 0)
		/* Without Landlock nothing is denied, and that is no error. */
		_exit(has_landlock ? confined(has_localhost) : egress_confine(NULL) == 0 ? 0 : 255);
	CHECK(pid > 0 && waitpid(pid, &waited, 0) == pid);
	if (waited != 0)
		printf("# line %d\n", WEXITSTATUS(waited));
	CHECK(waited == 0);
	CHECK(unlink(path) == 0);
}

TAP_MAIN(T(DOOR_4_a_confined_resolver_reads_no_other_file_and_executes_nothing))
