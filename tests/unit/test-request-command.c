/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "approval/request-command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/str.h"
#include "tap.h"

static char dir[] = "/tmp/custody-on-request.XXXXXX";

static int tell(const char *script, unsigned int seconds, struct fault *f)
{
	char shell[] = "/bin/sh", dash_c[] = "-c", name[] = "sh";
	char *argv[] = { shell, dash_c, (char *)script, name, NULL };
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	jdoc_set_string(d, "command", "$(touch forged); \n x");
	return request_command_run(argv, "0123456789abcdef", d, seconds, f);
}

static char *contents(const char *name)
{
	_cleanup_close_ int fd = open(name, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len;

	return fd >= 0 && fd_read_all(fd, 4096, &text, &len, NULL) == 0 ? text : NULL;
}

static void it_gets_the_id_and_the_request_and_nothing_else(void)
{
	_cleanup_free_ char *got = NULL;

	CHECK(tell("{ echo \"$#:$*\"; cat; } >told", 60, NULL) == 0);
	got = contents("told");
	CHECK(str_eq(got, "1:0123456789abcdef\n{\"command\":\"$(touch forged); \\n x\"}\n"));
	CHECK(access("forged", F_OK) < 0);
}

static void not_reading_is_no_failure(void)
{
	CHECK(tell("exit 0", 60, NULL) == 0);
}

static void failures_are_reported(void)
{
	_cleanup_fault_ struct fault a = { 0 }, b = { 0 }, c = { 0 };
	char missing[] = "/no/such/program";
	char *argv[] = { missing, NULL };
	_cleanup_jdoc_ struct jdoc *d = jdoc_new_object();

	CHECK(tell("exit 3", 60, &a) == -EIO && strstr(fault_text(&a), "status 3"));
	CHECK(tell("kill -9 $$", 60, &b) == -EIO && strstr(fault_text(&b), "signal 9"));
	CHECK(request_command_run(argv, "0", d, 60, &c) == -ENOENT &&
	      strstr(fault_text(&c), "/no/such/program"));
}

/* What it started dies with it. */
static void it_has_its_time_and_no_more(void)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_free_ char *pid = NULL;
	int n = 0;

	CHECK(tell("sleep 600 & echo $! >pid; wait", 3, &f) == -ETIME && strstr(fault_text(&f), "killed"));
	pid = contents("pid");
	CHECK(pid && atoi(pid) > 1);
	/* The process that adopted it may take a moment to reap it. */
	while (kill(atoi(pid), 0) == 0 && n++ < 6000) {
		char state[64];
		_cleanup_free_ char *stat = NULL;

		(void)snprintf(state, sizeof(state), "/proc/%d/stat", atoi(pid));
		stat = contents(state);
		if (!stat || strstr(stat, ") Z "))
			break;
		(void)usleep(10000);
	}
	CHECK(n < 6000);
}

static void nothing_of_ours_is_open_in_it(void)
{
	_cleanup_free_ char *got = NULL;

	if (tap_stride() > 1)
		return; /* valgrind's own are open in everything that it starts */
	CHECK(tell("ls /proc/self/fd | sort -n | tr '\\n' ' ' >fds", 60, NULL) == 0);
	got = contents("fds");
	/* 3 is the directory that ls reads. */
	CHECK(str_eq(got, "0 1 2 3 "));
}

static void remove_all(void)
{
	static const char *const names[] = { "told", "pid", "fds" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unlink(names[i]);
	CHECK(chdir("/") == 0 && rmdir(dir) == 0);
}

static void in_a_directory_of_its_own(void)
{
	/* As the program does first: what a test runner left open is marked. */
	CHECK(fd_sanitize(NULL) == 0);
	CHECK(mkdtemp(dir) && chdir(dir) == 0);
}

TAP_MAIN(T(in_a_directory_of_its_own), T(it_gets_the_id_and_the_request_and_nothing_else),
	 T(not_reading_is_no_failure), T(failures_are_reported), T(it_has_its_time_and_no_more),
	 T(nothing_of_ours_is_open_in_it), T(remove_all))
