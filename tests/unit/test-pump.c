/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "warden/pump.h"

#include "tap.h"

static bool step(struct pump *p)
{
	struct pollfd polled[2];

	pump_poll(p, polled);
	if (poll(polled, 2, 0) <= 0)
		return false;
	pump_step(p, polled);
	return true;
}

static void pipe_to_file_arrives_whole(void)
{
	int fd[2], file = memfd_create("out", MFD_CLOEXEC);
	struct pump p;
	char back[16] = { 0 };

	CHECK(pipe2(fd, O_CLOEXEC | O_NONBLOCK) == 0 && write(fd[1], "hello", 5) == 5 && close(fd[1]) == 0);
	pump_init(&p, fd[0], true, file, false);
	CHECK(p.mode == PUMP_SPLICE);
	CHECK(pump_drain(&p) && pump_is_over(&p));
	CHECK(pread(file, back, sizeof(back), 0) == 5 && strcmp(back, "hello") == 0);
	close(file);
}

static void file_for_appending_falls_back_to_copying(void)
{
	char path[] = "/tmp/custody-pump-XXXXXX", back[16] = { 0 };
	int fd[2], file = mkstemp(path);
	struct pump p;

	CHECK(file >= 0 && unlink(path) == 0 && fcntl(file, F_SETFL, O_APPEND) == 0);
	CHECK(pipe2(fd, O_CLOEXEC | O_NONBLOCK) == 0 && write(fd[1], "hello", 5) == 5 && close(fd[1]) == 0);
	pump_init(&p, fd[0], true, file, false);
	CHECK(pump_drain(&p));
	CHECK(pread(file, back, sizeof(back), 0) == 5 && strcmp(back, "hello") == 0);
	close(file);
}

static void full_pipe_is_waited_for_and_nothing_is_lost(void)
{
	static char chunk[4096];
	int in[2], out[2];
	struct pump p;
	size_t sent = 0, got = 0;

	CHECK(pipe2(in, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(out, O_CLOEXEC | O_NONBLOCK) == 0);
	CHECK(fcntl(out[1], F_SETFL, 0) == 0); /* the caller's end blocks: we must not */
	pump_init(&p, in[0], true, out[1], false);
	for (int i = 0; i < 64; i++) {
		ssize_t n = write(in[1], chunk, sizeof(chunk));

		sent += n > 0 ? (size_t)n : 0;
		step(&p);
	}
	CHECK(!pump_drain(&p)); /* no room: returns false */
	close(in[1]);
	for (;;) {
		ssize_t n = read(out[0], chunk, sizeof(chunk));

		if (n <= 0)
			break;
		got += (size_t)n;
		step(&p);
		step(&p);
	}
	CHECK(pump_drain(&p));
	for (ssize_t n; (n = read(out[0], chunk, sizeof(chunk))) > 0;)
		got += (size_t)n;
	CHECK(got == sent);
	close(out[0]);
	close(out[1]);
}

static void reader_that_went_away_closes_the_writer(void)
{
	int in[2], out[2];
	struct pump p;

	(void)signal(SIGPIPE, SIG_IGN);
	CHECK(pipe2(in, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(out, O_CLOEXEC) == 0);
	pump_init(&p, in[0], true, out[1], true);
	close(out[0]);
	CHECK(step(&p)); /* without a byte having been written */
	CHECK(pump_is_over(&p));
	CHECK(write(in[1], "x", 1) < 0 && errno == EPIPE);
	close(in[1]);
}

static void socket_is_written_to_without_blocking(void)
{
	int in[2], out[2];
	static char chunk[4096];
	struct pump p;

	CHECK(pipe2(in, O_CLOEXEC | O_NONBLOCK) == 0 &&
	      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) == 0);
	pump_init(&p, in[0], true, out[1], false);
	CHECK(p.mode == PUMP_COPY);
	/* Far more than a socket holds; a blocking write would hang here. */
	for (int i = 0; i < 1000; i++) {
		(void)!write(in[1], chunk, sizeof(chunk));
		step(&p);
		step(&p);
	}
	CHECK(p.len > 0);
	pump_close(&p);
	close(in[1]);
	close(out[0]);
	close(out[1]);
}

static void a_closed_input_finishes_at_once(void)
{
	struct pump p;

	pump_init(&p, -EBADF, false, 1, false);
	CHECK(pump_is_over(&p) && !step(&p) && pump_drain(&p));
}

/* Through to the caller, and remembered: all of a little, the end of much. */
static void the_tail_keeps_the_last_bytes(void)
{
	static const size_t sizes[] = { 1, 5000, 300000, 5000000 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_tail_ struct tail t = TAIL_NONE;
		_cleanup_free_ char *kept = NULL, *got = malloc(sizes[i]);
		size_t len, sent = 0, read_back = 0;
		int in[2], out[2];
		struct pump p;

		CHECK(got && tail_open(&t, NULL) == 0);
		CHECK(pipe2(in, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(out, O_CLOEXEC | O_NONBLOCK) == 0);
		pump_init(&p, in[0], true, out[1], true);
		p.tail = &t;
		CHECK(p.mode == PUMP_SPLICE);
		while (read_back < sizes[i]) {
			char bytes[700];
			ssize_t n;

			for (size_t k = 0; k < sizeof(bytes); k++)
				bytes[k] = (char)('a' + (sent + k) % 23);
			n = sent < sizes[i]
				    ? write(in[1], bytes,
					    sizes[i] - sent < sizeof(bytes) ? sizes[i] - sent : sizeof(bytes))
				    : 0;
			sent += n > 0 ? (size_t)n : 0;
			(void)!step(&p);
			n = read(out[0], got + read_back, sizes[i] - read_back);
			read_back += n > 0 ? (size_t)n : 0;
		}
		for (size_t k = 0; k < sizes[i]; k++)
			CHECK(got[k] == (char)('a' + k % 23));
		CHECK(tail_read(&t, &kept, &len, NULL) == 0 && len <= sizes[i]);
		CHECK(len == sizes[i] || len >= 32 * 1024);
		CHECK(memcmp(kept, got + sizes[i] - len, len) == 0);
		pump_close(&p);
		(void)close(in[1]);
		(void)close(out[0]);
	}
}

/* A pty has no end of file: a character in an empty line is one. */
static void the_end_of_input_is_a_character_for_a_terminal(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = { { "", "\4" }, { "a\n", "a\n\4" }, { "a\nb", "a\nb\4\4" } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].in);
		char back[16] = { 0 };
		int in[2], out[2];
		struct pump p;

		CHECK(pipe2(in, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(out, O_CLOEXEC | O_NONBLOCK) == 0);
		CHECK(write(in[1], cases[i].in, len) == (ssize_t)len && close(in[1]) == 0);
		pump_init(&p, in[0], true, out[1], true);
		pump_watch(&p);
		p.end = '\4';
		while (!pump_is_over(&p) && step(&p))
			;
		CHECK(pump_is_over(&p));
		CHECK(read(out[0], back, sizeof(back)) == (ssize_t)strlen(cases[i].out) &&
		      strcmp(back, cases[i].out) == 0);
		(void)close(out[0]);
	}
}

TAP_MAIN(T(pipe_to_file_arrives_whole), T(file_for_appending_falls_back_to_copying),
	 T(full_pipe_is_waited_for_and_nothing_is_lost), T(reader_that_went_away_closes_the_writer),
	 T(socket_is_written_to_without_blocking), T(a_closed_input_finishes_at_once),
	 T(the_tail_keeps_the_last_bytes), T(the_end_of_input_is_a_character_for_a_terminal))
