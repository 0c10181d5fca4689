/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "tap.h"

/*
 * stderr as a socket that keeps the bounds of writes: what one read returns was one write.
 */
struct capture {
	int reader, saved;
	char text[4096];
};

static bool capture_init(struct capture *c)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return false;
	c->reader = pair[0];
	c->saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (dup3(pair[1], STDERR_FILENO, O_CLOEXEC) < 0)
		return false;
	fd_close(pair[1]);
	return c->saved >= 0;
}

static void capture_done(struct capture *c)
{
	(void)dup3(c->saved, STDERR_FILENO, 0);
	fd_close(c->saved);
	fd_close(c->reader);
}

/* The next write; "" if none came. */
static const char *capture_next(struct capture *c)
{
	ssize_t n = read(c->reader, c->text, sizeof(c->text) - 1);

	c->text[n < 0 ? 0 : n] = '\0';
	return c->text;
}

static void one_call_is_one_write_of_one_line(void)
{
	_cleanup_(capture_done) struct capture c;

	CHECK(capture_init(&c));
	log_init("prog", LOG_LEVEL_INFO);
	log_error("bad %d", 1);
	log_info("good %s", "thing");
	CHECK(str_eq(capture_next(&c), "prog: bad 1\n"));
	CHECK(str_eq(capture_next(&c), "prog: good thing\n"));
	CHECK(str_eq(capture_next(&c), ""));
}

static void a_payload_cannot_forge_lines_or_colours(void)
{
	_cleanup_(capture_done) struct capture c;

	CHECK(capture_init(&c));
	log_init("prog", LOG_LEVEL_INFO);
	log_info("name '%s'", "x\nprog: approved\x1b[2J");
	CHECK(str_eq(capture_next(&c), "prog: name 'x\\x0Aprog: approved\\x1B[2J'\n"));
}

static void levels_hide_more_verbose_messages(void)
{
	_cleanup_(capture_done) struct capture c;

	CHECK(capture_init(&c));
	log_init("prog", LOG_LEVEL_QUIET);
	log_error("e");
	CHECK(str_eq(capture_next(&c), "") && !log_has(LOG_LEVEL_ERROR));
	log_init("prog", LOG_LEVEL_ERROR);
	log_info("i");
	CHECK(str_eq(capture_next(&c), "") && log_has(LOG_LEVEL_ERROR) && !log_has(LOG_LEVEL_INFO));
	log_init("prog", LOG_LEVEL_INFO);
	log_verbose("v");
	CHECK(str_eq(capture_next(&c), ""));
	log_init("prog", LOG_LEVEL_VERBOSE);
	log_verbose("v");
	CHECK(str_eq(capture_next(&c), "prog: v\n"));
}

static void a_closed_stderr_is_survived(void)
{
	_cleanup_(capture_done) struct capture c;

	CHECK(capture_init(&c));
	fd_close(STDERR_FILENO);
	log_init("prog", LOG_LEVEL_INFO);
	log_error("no reader");
	CHECK(str_eq(capture_next(&c), ""));
}

TAP_MAIN(T(one_call_is_one_write_of_one_line), T(a_payload_cannot_forge_lines_or_colours),
	 T(levels_hide_more_verbose_messages), T(a_closed_stderr_is_survived))
