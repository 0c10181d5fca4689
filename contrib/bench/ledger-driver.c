/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measurements of contrib/bench/ledger; prints plain numbers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "ledger/ledger.h"

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void die(const char *what, const struct fault *f)
{
	fprintf(stderr, "ledger-driver: %s: %s\n", what, f ? fault_text(f) : strerror(errno));
	exit(1);
}

static struct ledger *open_ledger(const char *state)
{
	struct fault f = { 0 };
	struct ledger *l;

	if (ledger_open(state, &(struct ledger_options){ .create = true }, &l, NULL, &f) < 0)
		die(state, &f);
	return l;
}

/* About 300 bytes before the seal, like a record of a session. */
static void append(struct ledger *l, const struct jdoc *d, enum ledger_class class)
{
	struct ledger_event e = { .kind = "tool.call",
				  .session = "20261116T031500Z-1a2b3c4d",
				  .agent = "builder",
				  .worker = "w1",
				  .d = d };
	struct fault f = { 0 };

	if (ledger_append(l, &e, 1, class, NULL, &f) < 0)
		die("append", &f);
}

static struct jdoc *make_d(void)
{
	struct jdoc *d = jdoc_new_object();

	jdoc_set_string(d, "tool", "read_file");
	jdoc_set_string(d, "path", "src/main.c");
	jdoc_set_int(d, "bytes", 12345);
	return d;
}

static void bench_append(const char *state, long n)
{
	struct ledger *l = open_ledger(state);
	struct jdoc *d = make_d();
	double start = now();

	for (long i = 0; i < n; i++)
		append(l, d, LEDGER_OBSERVED);
	printf("%.0f\n", (double)n / (now() - start));
	jdoc_free(d);
	ledger_free(l);
}

/* Appends many records in batches, as input of verify. */
static void fill(const char *state, long n)
{
	struct ledger *l = open_ledger(state);
	struct jdoc *d = make_d();
	struct ledger_event e[1000];
	struct fault f = { 0 };

	for (int i = 0; i < 1000; i++)
		e[i] = (struct ledger_event){ .kind = "tool.call",
					      .session = "20261116T031500Z-1a2b3c4d",
					      .agent = "builder",
					      .worker = "w1",
					      .d = d,
					      .verbatim = true };
	for (long i = 0; i < n; i += 1000)
		if (ledger_append(l, e, (size_t)(n - i < 1000 ? n - i : 1000), LEDGER_OBSERVED, NULL, &f) < 0)
			die("append", &f);
	jdoc_free(d);
	ledger_free(l);
}

/* PROCS writers, N synced records each.  INSIDE: a lock around each append makes it a writer that syncs under lock. */
static void bench_sync(const char *state, int procs, long n, bool inside)
{
	int go[2];
	double start;
	char byte;

	ledger_free(open_ledger(state));
	if (pipe2(go, O_CLOEXEC) < 0)
		die("pipe", NULL);
	for (int i = 0; i < procs; i++) {
		if (fork() != 0)
			continue;
		struct ledger *l = open_ledger(state);
		struct jdoc *d = make_d();
		char path[512];
		int lock;

		(void)snprintf(path, sizeof(path), "%s/outer-lock", state);
		lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		(void)close(go[1]);
		(void)!read(go[0], &byte, 1); /* until all writers exist */
		for (long k = 0; k < n; k++) {
			if (inside && flock(lock, LOCK_EX) < 0)
				die("flock", NULL);
			append(l, d, LEDGER_DECIDED);
			if (inside && flock(lock, LOCK_UN) < 0)
				die("flock", NULL);
		}
		_exit(0);
	}
	(void)usleep(200000);
	start = now();
	(void)close(go[1]);
	for (int i = 0; i < procs; i++) {
		int status;

		if (wait(&status) < 0 || status != 0)
			die("a writer failed", NULL);
	}
	printf("%.0f\n", (double)procs * (double)n / (now() - start));
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* One synced record against write and fdatasync of as many bytes, alternating. */
static void bench_one(const char *state, long n)
{
	struct ledger *l = open_ledger(state);
	struct jdoc *d = make_d();
	double *ours = calloc((size_t)n, sizeof(*ours)), *bare = calloc((size_t)n, sizeof(*bare));
	char path[512], bytes[490];
	int fd;

	memset(bytes, 'x', sizeof(bytes));
	(void)snprintf(path, sizeof(path), "%s/bare", state);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || !ours || !bare)
		die(path, NULL);
	for (long i = 0; i < n; i++) {
		double start = now();

		append(l, d, LEDGER_DECIDED);
		ours[i] = now() - start;
		start = now();
		if (write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes) || fdatasync(fd) < 0)
			die(path, NULL);
		bare[i] = now() - start;
	}
	qsort(ours, (size_t)n, sizeof(*ours), by_value);
	qsort(bare, (size_t)n, sizeof(*bare), by_value);
	printf("%.1f %.1f %.2f\n", ours[n / 2] * 1e6, bare[n / 2] * 1e6, ours[n / 2] / bare[n / 2]);
	free(ours);
	free(bare);
	jdoc_free(d);
	ledger_free(l);
	(void)close(fd);
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[3]) : 0;

	if (argc >= 4 && strcmp(argv[1], "append") == 0)
		bench_append(argv[2], n);
	else if (argc >= 4 && strcmp(argv[1], "fill") == 0)
		fill(argv[2], n);
	else if (argc >= 4 && strcmp(argv[1], "one") == 0)
		bench_one(argv[2], n);
	else if (argc >= 5 && strcmp(argv[1], "sync") == 0)
		bench_sync(argv[2], atoi(argv[4]), n, argc > 5);
	else
		return fprintf(stderr, "usage: ledger-driver append|fill|one STATE N | sync STATE N PROCS "
				       "[inside]\n"),
		       64;
	return 0;
}
