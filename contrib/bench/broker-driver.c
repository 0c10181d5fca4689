/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A client of the broker that counts and times its own calls; contrib/bench/broker starts it inside a session.
 *
 *	broker-driver ping N WINDOW	N calls of `ping` over one connection, WINDOW of them without waiting for a reply
 *	broker-driver connect ROUNDS	in turns: a new connection to the broker with one call, and one to an echo server
 *	broker-driver times ROUNDS	in turns: an allowed call, and one of a tool that the profile does not have
 *	broker-driver hold		one call; then waits for the end of stdin
 *
 * Prints one line of numbers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SOCKET "/run/custody/broker.sock"
#define TOKEN "/run/custody/token"

static char line[512];
static size_t line_len;

static void die(const char *what)
{
	fprintf(stderr, "broker-driver: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void make_line(const char *tool)
{
	char token[65] = "";
	int fd = open(TOKEN, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, token, 64) != 64)
		die(TOKEN);
	close(fd);
	line_len = (size_t)snprintf(line, sizeof(line), "{\"token\":\"%s\",\"tool\":\"%s\",\"params\":{}}\n",
				    token, tool);
}

static struct sockaddr_un address(const char *path, socklen_t *ret_len)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	/* '@': an abstract name. */
	memcpy(a.sun_path, path, strlen(path));
	*ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (a.sun_path[0] == '@')
		a.sun_path[0] = '\0';
	return a;
}

static int connect_to(const char *path)
{
	socklen_t len;
	struct sockaddr_un a = address(path, &len);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, len) < 0)
		die(path);
	return fd;
}

static void put(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n <= 0)
			die("write");
		bytes += n;
		len -= (size_t)n;
	}
}

/* Reads until COUNT lines have come; each has to be the expected reply. */
static void read_replies(int fd, long count)
{
	static char text[65536];
	static size_t len;

	while (count > 0) {
		ssize_t n = read(fd, text + len, sizeof(text) - len);
		char *at = text, *end;

		if (n <= 0)
			die("read");
		len += (size_t)n;
		while (count > 0 && (end = memchr(at, '\n', len - (size_t)(at - text)))) {
			*end = '\0';
			if (!strstr(at, "\"pong\"")) {
				fprintf(stderr, "broker-driver: %s\n", at);
				exit(1);
			}
			at = end + 1;
			count--;
		}
		len -= (size_t)(at - text);
		memmove(text, at, len);
	}
}

static void ping(long calls, long window)
{
	char *burst = malloc(line_len * (size_t)window);
	int fd = connect_to(SOCKET);
	double begin;

	if (!burst)
		die("malloc");
	for (long i = 0; i < window; i++)
		memcpy(burst + (size_t)i * line_len, line, line_len);
	begin = now_us();
	for (long done = 0; done < calls; done += window) {
		put(fd, burst, line_len * (size_t)window);
		read_replies(fd, window);
	}
	printf("%.0f\n", (double)calls / ((now_us() - begin) / 1e6));
}

static void echo_server(int listen_fd)
{
	char text[512];
	ssize_t n;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

		while (fd >= 0 && (n = read(fd, text, sizeof(text))) > 0)
			put(fd, text, (size_t)n);
		close(fd);
	}
}

static void one_call(const char *path)
{
	char text[512];
	int fd = connect_to(path);

	put(fd, line, line_len);
	if (read(fd, text, sizeof(text)) <= 0)
		die(path);
	close(fd);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Medians in microseconds: broker, echo; the median of the ratios of a round. */
static void connect_rounds(size_t rounds)
{
	double *t[3];
	socklen_t len;
	struct sockaddr_un a = address("@custody-bench-echo", &len);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 16) < 0)
		die("echo server");
	if (fork() == 0)
		echo_server(fd);
	for (int i = 0; i < 3; i++)
		if (!(t[i] = calloc(rounds, sizeof(double))))
			die("calloc");
	for (size_t i = 0; i < rounds; i++) {
		for (int k = 0; k < 2; k++) {
			const int which = (k + (int)i) % 2;
			const double begin = now_us();

			one_call(which ? "@custody-bench-echo" : SOCKET);
			t[which][i] = now_us() - begin;
		}
		t[2][i] = t[0][i] / t[1][i];
	}
	for (int i = 0; i < 3; i++)
		qsort(t[i], rounds, sizeof(double), compare);
	printf("%.1f %.1f %.2f\n", t[0][rounds / 2], t[1][rounds / 2], t[2][rounds / 2]);
}

struct sample {
	double us;
	int refused;
};

static int compare_samples(const void *a, const void *b)
{
	return compare(&((const struct sample *)a)->us, &((const struct sample *)b)->us);
}

static double call_time(int fd)
{
	const double begin = now_us();
	char text[512];

	put(fd, line, line_len);
	if (read(fd, text, sizeof(text)) <= 0)
		die("read");
	return now_us() - begin;
}

/* Medians of allowed and refused calls in microseconds, and z of the rank sum test: beyond 3 they can be told apart. */
static void times(size_t rounds)
{
	struct sample *all = calloc(2 * rounds, sizeof(*all));
	double median[2] = { 0 }, ranks = 0;
	const double n = (double)rounds, mean = n * (2 * n + 1) / 2, sd = sqrt(n * n * (2 * n + 1) / 12);
	size_t seen[2] = { 0 };
	int fd = connect_to(SOCKET);

	if (!all)
		die("calloc");
	for (size_t i = 0; i < 2 * rounds; i++) {
		/* Each of the two comes first in half of the rounds. */
		all[i].refused = (int)((i + i / 2) % 2);
		make_line(all[i].refused ? "gone" : "ping");
		all[i].us = call_time(fd);
	}
	qsort(all, 2 * rounds, sizeof(*all), compare_samples);
	for (size_t i = 0; i < 2 * rounds; i++) {
		const int which = all[i].refused;

		if (seen[which]++ == rounds / 2)
			median[which] = all[i].us;
		if (which)
			ranks += (double)i + 1;
	}
	printf("%.1f %.1f %.2f\n", median[0], median[1], (ranks - mean) / sd);
}

int main(int argc, char **argv)
{
	make_line("ping");
	if (argc == 4 && strcmp(argv[1], "ping") == 0) {
		ping(atol(argv[2]), atol(argv[3]));
	} else if (argc == 3 && strcmp(argv[1], "connect") == 0) {
		connect_rounds((size_t)atol(argv[2]));
	} else if (argc == 3 && strcmp(argv[1], "times") == 0) {
		times((size_t)atol(argv[2]));
	} else if (argc == 2 && strcmp(argv[1], "hold") == 0) {
		one_call(SOCKET);
		puts("held");
		fflush(stdout);
		while (getchar() != EOF)
			;
	} else {
		fprintf(stderr,
			"usage: broker-driver ping N WINDOW | connect ROUNDS | times ROUNDS | hold\n");
		return 64;
	}
	return 0;
}
