/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/process-detach.h"
#include "tap.h"
#include "tree-fixture.h"

/* What the process reports through the descriptor that it keeps. */
struct report {
	pid_t session, self;
	bool null[3], closed, defaults;
	char cwd[PATH_MAX];
};

static bool is_null(int fd)
{
	struct stat st, null;

	return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev;
}

static _Noreturn void tell(int keep, int other)
{
	struct sigaction hup;
	struct report r = { .session = getsid(0), .self = getpid() };

	for (int i = 0; i < 3; i++)
		r.null[i] = is_null(i);
	r.closed = fcntl(other, F_GETFD) < 0;
	r.defaults = sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler == SIG_DFL;
	if (!getcwd(r.cwd, sizeof(r.cwd)))
		r.cwd[0] = '\0';
	_exit(write(keep, &r, sizeof(r)) != (ssize_t)sizeof(r));
}

static void the_new_process_has_only_the_kept_descriptor(void)
{
	_cleanup_close_ int other = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct report r = { 0 };
	int p[2], made;

	CHECK(pipe2(p, O_CLOEXEC) == 0);
	(void)signal(SIGHUP, SIG_IGN);
	made = process_detach("custody-test", p[1]);
	if (made == 0)
		tell(p[1], other);
	(void)signal(SIGHUP, SIG_DFL);
	CHECK(made == 1);
	p[1] = fd_close(p[1]);
	CHECK(read(p[0], &r, sizeof(r)) == (ssize_t)sizeof(r));
	CHECK(r.session != getsid(0) && r.null[0] && r.null[1] && r.null[2] && r.closed && r.defaults);
	CHECK(strcmp(r.cwd, "/") == 0);
	/* Not a child. */
	CHECK(waitpid(r.self, NULL, WNOHANG) < 0);
	(void)fd_close(p[0]);
}

/* It is held until that process exits, and no longer. */
static void the_lock_of_the_kept_descriptor_stays(void)
{
	_cleanup_tree_ struct tree t;
	_cleanup_close_ int mine = -EBADF, second = -EBADF, end = -EBADF;
	char fifo[sizeof(t.path) + 8];
	int made;

	CHECK(tree_make(&t) && mkfifoat(t.fd, "end", 0600) == 0);
	(void)snprintf(fifo, sizeof(fifo), "%s/end", t.path);
	mine = openat(t.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	second = openat(t.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(flock(mine, LOCK_EX | LOCK_NB) == 0);
	made = process_detach("custody-test", mine);
	/* Waits for the writer. */
	if (made == 0)
		_exit(open(fifo, O_RDONLY | O_CLOEXEC) < 0);
	CHECK(made == 1);
	mine = fd_close(mine);
	CHECK(flock(second, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK);
	end = open(fifo, O_WRONLY | O_CLOEXEC);
	CHECK(end >= 0 && flock(second, LOCK_EX) == 0);
}

TAP_MAIN(T(the_new_process_has_only_the_kept_descriptor), T(the_lock_of_the_kept_descriptor_stays))
