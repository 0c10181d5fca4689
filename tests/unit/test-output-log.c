/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "warden/output-log.h"

#include "tap.h"

static char root[] = "/tmp/custody-output-XXXXXX";
static int dir = -EBADF;

static void clean(void)
{
	(void)!path_remove_tree(dir, "log", NULL);
	(void)!path_remove_tree(dir, "log.1", NULL);
}

static bool holds(const char *name, const char *want)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (fd < 0)
		return want == NULL;
	return want && fd_read_all(fd, 4096, &text, &len, NULL) == 0 && strcmp(text, want) == 0;
}

static void added_files_are_in_the_archive(void)
{
	_cleanup_output_log_ struct output_log l = OUTPUT_LOG_NONE;
	struct stat st;

	clean();
	CHECK(output_log_open(&l, dir, "log", "log.1", 16, NULL) == 0);
	CHECK(fstatat(dir, "log", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
	output_log_add(&l, "abc", 3);
	output_log_add(&l, "de", 2);
	CHECK(holds("log", "abcde") && holds("log.1", NULL) && l.error == 0);
}

static void it_turns_over_at_half(void)
{
	_cleanup_output_log_ struct output_log l = OUTPUT_LOG_NONE;

	clean();
	CHECK(output_log_open(&l, dir, "log", "log.1", 16, NULL) == 0);
	output_log_add(&l, "12345678", 8);
	CHECK(holds("log", "12345678") && holds("log.1", NULL));
	output_log_add(&l, "9", 1);
	CHECK(holds("log", "9") && holds("log.1", "12345678"));
	/* More at once than fits: the last part stays. */
	output_log_add(&l, "abcdefghijklmnopqrstuvwxyz", 26);
	CHECK(holds("log", "xyz") && holds("log.1", "pqrstuvw") && l.error == 0);
}

static void a_planted_link_is_not_followed(void)
{
	_cleanup_output_log_ struct output_log l = OUTPUT_LOG_NONE;
	_cleanup_fault_ struct fault f = { 0 };

	clean();
	CHECK(symlinkat("/dev/null", dir, "log") == 0);
	CHECK(output_log_open(&l, dir, "log", "log.1", 16, &f) == -EEXIST && f.text);
}

static void it_stays_bounded_when_it_cannot_turn_over(void)
{
	_cleanup_output_log_ struct output_log l = OUTPUT_LOG_NONE;

	clean();
	/* A directory cannot be replaced by a file. */
	CHECK(mkdirat(dir, "log.1", 0700) == 0);
	CHECK(output_log_open(&l, dir, "log", "log.1", 16, NULL) == 0);
	output_log_add(&l, "12345678abc", 11);
	CHECK(holds("log", "abc") && l.error == EISDIR);
}

static void output_that_cannot_be_written_is_dropped(void)
{
	_cleanup_output_log_ struct output_log l = OUTPUT_LOG_NONE;

	clean();
	CHECK(output_log_open(&l, dir, "log", "log.1", 16, NULL) == 0);
	fd_close(l.fd);
	l.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	CHECK(l.fd >= 0);
	output_log_add(&l, "abc", 3);
	CHECK(l.error == ENOSPC);
}

static void start(void)
{
	CHECK(mkdtemp(root));
	dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0);
}

static void end(void)
{
	clean();
	fd_close(dir);
	CHECK(rmdir(root) == 0);
}

TAP_MAIN(T(start), T(added_files_are_in_the_archive), T(it_turns_over_at_half),
	 T(a_planted_link_is_not_followed), T(it_stays_bounded_when_it_cannot_turn_over),
	 T(output_that_cannot_be_written_is_dropped), T(end))
