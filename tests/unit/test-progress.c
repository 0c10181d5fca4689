/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tty/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/clock.h"
#include "base/log.h"
#include "tap.h"

/* Standard error is OUT while BODY runs. */
static void with_stderr(int out, void (*body)(void *arg), void *arg)
{
	_cleanup_close_ int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);

	(void)dup3(out, STDERR_FILENO, O_CLOEXEC);
	body(arg);
	(void)dup3(before, STDERR_FILENO, 0);
}

static void begin(void *arg)
{
	progress_init(arg, "keeping evidence");
}

static bool open_terminal(int *ret_master, int *ret_slave)
{
	*ret_master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	*ret_slave = *ret_master >= 0 && grantpt(*ret_master) == 0 && unlockpt(*ret_master) == 0
			     ? open(ptsname(*ret_master), O_RDWR | O_NOCTTY | O_CLOEXEC)
			     : -EBADF;
	return *ret_slave >= 0;
}

/* The output so far; "" if none. */
static const char *shown(int master, char text[512])
{
	ssize_t n = read(master, text, 511);

	text[n < 0 ? 0 : n] = '\0';
	return text;
}

static void long_work_is_shown_on_a_terminal_and_erased_at_the_end(void)
{
	_cleanup_close_ int master = -EBADF, slave = -EBADF;
	struct progress p;
	char text[512];

	log_init("test", LOG_LEVEL_INFO);
	CHECK(open_terminal(&master, &slave));
	with_stderr(slave, begin, &p);
	CHECK(p.fd == STDERR_FILENO);
	p.fd = slave;
	progress_tell(&p, 1, 2);
	CHECK(shown(master, text)[0] == '\0'); /* not in the first second */
	atomic_store(&p.next_ns, 0);
	/* Two seconds and a half after the beginning, as far as the program can tell. */
	p.begin_ns = clock_boot_ns() - UINT64_C(2500000000);
	progress_tell(&p, 12, 34567890);
	CHECK(strcmp(shown(master, text), "\r\033[Kkeeping evidence: 12 entries, 34 MB (4/s, 13 MB/s)") == 0);
	atomic_store(&p.next_ns, 0);
	progress_tell(&p, 12, 0);
	CHECK(strcmp(shown(master, text), "\r\033[Kkeeping evidence: 12 entries (4/s)") == 0);
	progress_pause(&p);
	CHECK(strcmp(shown(master, text), "\r\033[K") == 0);
	progress_pause(&p);
	CHECK(shown(master, text)[0] == '\0'); /* a line of output follows: cleared once */
	atomic_store(&p.next_ns, UINT64_MAX);
	progress_tell(&p, 13, 3456789);
	CHECK(shown(master, text)[0] == '\0'); /* not all the time */
	atomic_store(&p.next_ns, 0);
	progress_done(&p);
	CHECK(strcmp(shown(master, text), "\r\033[K") == 0);
	progress_tell(&p, 14, 3456789);
	CHECK(shown(master, text)[0] == '\0');
}

static void nothing_is_shown_without_a_terminal_or_when_quiet(void)
{
	_cleanup_close_ int master = -EBADF, slave = -EBADF;
	struct progress p;
	char text[512];
	int fd[2];

	log_init("test", LOG_LEVEL_INFO);
	CHECK(pipe2(fd, O_CLOEXEC | O_NONBLOCK) == 0 && open_terminal(&master, &slave));
	with_stderr(fd[1], begin, &p);
	CHECK(p.fd < 0);
	log_init("test", LOG_LEVEL_QUIET);
	with_stderr(slave, begin, &p);
	CHECK(p.fd < 0);
	atomic_store(&p.next_ns, 0);
	progress_tell(&p, 1, 1);
	progress_done(&p);
	CHECK(shown(fd[0], text)[0] == '\0' && shown(master, text)[0] == '\0');
	fd_close(fd[0]);
	fd_close(fd[1]);
}

TAP_MAIN(T(long_work_is_shown_on_a_terminal_and_erased_at_the_end),
	 T(nothing_is_shown_without_a_terminal_or_when_quiet))
