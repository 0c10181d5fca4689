/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Times several commands against each other: every round starts each of them once, in a new random order, so that
 * other load and warm caches affect all of them.  Absolute times are noise on a shared machine; the ratio to the
 * first command is the result, with a 95 % bootstrap interval over rounds.
 *
 *	interleave [-c] [-n ROUNDS] [-w WARMUP] [-i IDLE_MS] [-j FILE] [-b PROGRAM] [-s FILE] [-d "A B K C"]... NAME CMD...
 *		   [::: NAME CMD...]...
 *
 * PROGRAM runs before each start and is not timed.  FILE is the stdin of each command, opened for each start.
 * -c: processor time of the command and of the processes that it waited for, instead of elapsed time.
 * -d: also (A - K * B) / C of the medians of the commands with these names, with its interval; K 0: A / C.
 *
 * A command that exits with a status other than 0 aborts the measurement: a failed start must not count as a fast one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CANDIDATES_MAX 16
#define RESAMPLES 2000
#define DERIVED_MAX 8

extern char **environ;

struct candidate {
	const char *name;
	char **argv;
	double *ms; /* one per round */
	double p50, p99, ratio, low, high;
	long rss_kb;
};

/* (a - factor * b) / c, numbers of candidates. */
struct derived {
	const char *text;
	int a, b, c;
	double factor;
};

struct plan {
	struct candidate c[CANDIDATES_MAX];
	int n;
	int rounds, warmup, idle_ms;
	int cpu; /* processor time instead of elapsed time */
	const char *json, *before, *input;
	struct derived derived[DERIVED_MAX];
	int derived_n;
	posix_spawn_file_actions_t stdio;
	int drain; /* read end of the commands' output pipe */
};

/* xorshift: the same sequence in each run of the tool, so that two runs differ only by the machine. */
static uint32_t draw(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu_ms(const struct rusage *use)
{
	return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) * 1e3 +
	       (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / 1e3;
}

/* Pipes, never /dev/null: crun with a user namespace chowns its stdio, including the host's /dev/null. */
static int make_stdio(struct plan *p)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	close(in[1]);
	p->drain = out[0];
	if (posix_spawn_file_actions_init(&p->stdio) != 0 ||
	    (p->input ? posix_spawn_file_actions_addopen(&p->stdio, 0, p->input, O_RDONLY, 0)
		      : posix_spawn_file_actions_adddup2(&p->stdio, in[0], 0)) != 0 ||
	    posix_spawn_file_actions_adddup2(&p->stdio, out[1], 1) != 0)
		return -1;
	return 0;
}

static double start_once(const struct plan *p, struct candidate *c)
{
	double begin = now_ms(), end;
	char trash[4096];
	struct rusage use;
	int status, r;
	pid_t pid;

	r = posix_spawnp(&pid, c->argv[0], &p->stdio, NULL, c->argv, environ);
	if (r != 0) {
		fprintf(stderr, "interleave: start '%s': %s\n", c->argv[0], strerror(r));
		exit(1);
	}
	while (wait4(pid, &status, 0, &use) < 0 && errno == EINTR)
		;
	end = now_ms();
	while (read(p->drain, trash, sizeof(trash)) > 0)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "interleave: '%s' exited with wait status %d; measurement aborted\n", c->name,
			status);
		exit(1);
	}
	if (use.ru_maxrss > c->rss_kb)
		c->rss_kb = use.ru_maxrss;
	return p->cpu ? cpu_ms(&use) : end - begin;
}

static void prepare(const struct plan *p)
{
	char *argv[] = { (char *)p->before, NULL };
	int status = 0;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) < 0 ||
	    status != 0) {
		fprintf(stderr, "interleave: '%s' failed; measurement aborted\n", p->before);
		exit(1);
	}
}

static void measure(struct plan *p)
{
	uint32_t seed = 20261116;
	int order[CANDIDATES_MAX];

	for (int round = -p->warmup; round < p->rounds; round++) {
		for (int i = 0; i < p->n; i++)
			order[i] = i;
		for (int i = p->n - 1; i > 0; i--) {
			int j = (int)(draw(&seed) % (uint32_t)(i + 1)), t = order[i];

			order[i] = order[j];
			order[j] = t;
		}
		for (int i = 0; i < p->n; i++) {
			struct candidate *c = &p->c[order[i]];
			double ms;

			if (p->before)
				prepare(p);
			if (p->idle_ms > 0)
				usleep((useconds_t)p->idle_ms * 1000);
			ms = start_once(p, c);
			if (round >= 0)
				c->ms[round] = ms;
		}
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *values, int n, double q, double *room)
{
	memcpy(room, values, (size_t)n * sizeof(*room));
	qsort(room, (size_t)n, sizeof(*room), by_value);
	return room[(int)(q * (double)(n - 1) + 0.5)];
}

/* Of the rounds CHOSEN. */
static double median_of(const struct plan *p, const struct candidate *c, const int *chosen, double *values,
			double *room)
{
	for (int i = 0; i < p->rounds; i++)
		values[i] = c->ms[chosen ? chosen[i] : i];
	return quantile(values, p->rounds, 0.5, room);
}

static double value_of(const struct plan *p, const struct derived *d, const int *chosen, double *values,
		       double *room)
{
	double a = median_of(p, &p->c[d->a], chosen, values, room);

	if (d->factor != 0)
		a -= d->factor * median_of(p, &p->c[d->b], chosen, values, room);
	return a / median_of(p, &p->c[d->c], chosen, values, room);
}

/* Rounds are resampled as a whole, because load is correlated within a round. */
static void bootstrap(const struct plan *p, const struct derived *d, double *ret_low, double *ret_high)
{
	double *values = malloc(sizeof(*values) * (size_t)p->rounds),
	       *room = malloc(sizeof(*room) * (size_t)p->rounds);
	double *ratios = malloc(sizeof(*ratios) * RESAMPLES);
	int *chosen = malloc(sizeof(*chosen) * (size_t)p->rounds);
	uint32_t seed = 7;

	if (!values || !room || !ratios || !chosen)
		exit(1);
	for (int k = 0; k < RESAMPLES; k++) {
		for (int i = 0; i < p->rounds; i++)
			chosen[i] = (int)(draw(&seed) % (uint32_t)p->rounds);
		ratios[k] = value_of(p, d, chosen, values, room);
	}
	qsort(ratios, RESAMPLES, sizeof(*ratios), by_value);
	*ret_low = ratios[(int)(0.025 * RESAMPLES)];
	*ret_high = ratios[(int)(0.975 * RESAMPLES)];
	free(values);
	free(room);
	free(ratios);
	free(chosen);
}

static void evaluate(struct plan *p)
{
	double *room = malloc(sizeof(*room) * (size_t)p->rounds);

	if (!room)
		exit(1);
	for (int i = 0; i < p->n; i++) {
		struct candidate *c = &p->c[i];

		c->p50 = quantile(c->ms, p->rounds, 0.5, room);
		c->p99 = quantile(c->ms, p->rounds, 0.99, room);
		c->ratio = c->p50 / p->c[0].p50;
		bootstrap(p, &(struct derived){ .a = i }, &c->low, &c->high);
	}
	free(room);
}

static void print_table(const struct plan *p)
{
	printf("%-28s %9s %9s %8s  %-16s %8s\n", "command", "p50 ms", "p99 ms", "ratio", "95 % interval",
	       "RSS kB");
	for (int i = 0; i < p->n; i++) {
		const struct candidate *c = &p->c[i];

		printf("%-28s %9.2f %9.2f %8.3f  [%.3f, %.3f]   %8ld\n", c->name, c->p50, c->p99, c->ratio,
		       c->low, c->high, c->rss_kb);
	}
	printf("%d rounds, interleaved; ratio = p50 against '%s'\n", p->rounds, p->c[0].name);
}

static void print_derived(const struct plan *p)
{
	double *values = malloc(sizeof(*values) * (size_t)p->rounds),
	       *room = malloc(sizeof(*room) * (size_t)p->rounds);

	if (!values || !room)
		exit(1);
	for (int i = 0; i < p->derived_n; i++) {
		const struct derived *d = &p->derived[i];
		double low, high;

		bootstrap(p, d, &low, &high);
		printf("%-47s %9.3f  [%.3f, %.3f]\n", d->text, value_of(p, d, NULL, values, room), low, high);
	}
	free(values);
	free(room);
}

static int number_of(const struct plan *p, const char *name)
{
	for (int i = 0; i < p->n; i++)
		if (strcmp(p->c[i].name, name) == 0)
			return i;
	return -1;
}

/* After the commands are known. */
static int resolve(const struct plan *p, struct derived *d)
{
	char a[32], b[32], c[32];

	if (sscanf(d->text, "%31s %31s %lf %31s", a, b, &d->factor, c) != 4)
		return -1;
	d->a = number_of(p, a);
	d->b = number_of(p, b);
	d->c = number_of(p, c);
	return d->a < 0 || d->b < 0 || d->c < 0 ? -1 : 0;
}

static int write_json(const struct plan *p)
{
	FILE *out = fopen(p->json, "we");

	if (!out) {
		fprintf(stderr, "interleave: write '%s': %s\n", p->json, strerror(errno));
		return 1;
	}
	fprintf(out, "{\"schema_version\":1,\"rounds\":%d,\"idle_ms\":%d,\"results\":[", p->rounds,
		p->idle_ms);
	for (int i = 0; i < p->n; i++) {
		const struct candidate *c = &p->c[i];

		fprintf(out,
			"%s{\"name\":\"%s\",\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"ratio\":%.4f,\"low\":%.4f,"
			"\"high\":%.4f,\"rss_kb\":%ld}",
			i ? "," : "", c->name, c->p50, c->p99, c->ratio, c->low, c->high, c->rss_kb);
	}
	fprintf(out, "]}\n");
	return fclose(out) == 0 ? 0 : 1;
}

static int parse_args(struct plan *p, int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "+cn:w:i:j:b:s:d:")) != -1) {
		switch (opt) {
		case 'c':
			p->cpu = 1;
			break;
		case 'n':
			p->rounds = atoi(optarg);
			break;
		case 'w':
			p->warmup = atoi(optarg);
			break;
		case 'i':
			p->idle_ms = atoi(optarg);
			break;
		case 'j':
			p->json = optarg;
			break;
		case 'b':
			p->before = optarg;
			break;
		case 's':
			p->input = optarg;
			break;
		case 'd':
			if (p->derived_n == DERIVED_MAX)
				return -1;
			p->derived[p->derived_n++].text = optarg;
			break;
		default:
			return -1;
		}
	}
	for (int i = optind; i < argc && p->n < CANDIDATES_MAX; p->n++) {
		struct candidate *c = &p->c[p->n];

		c->name = argv[i++];
		c->argv = &argv[i];
		while (i < argc && strcmp(argv[i], ":::") != 0)
			i++;
		if (c->argv == &argv[i])
			return -1;
		if (i < argc)
			argv[i++] = NULL;
		c->ms = calloc((size_t)(p->rounds > 0 ? p->rounds : 1), sizeof(*c->ms));
		if (!c->ms)
			return -1;
	}
	for (int i = 0; i < p->derived_n; i++)
		if (resolve(p, &p->derived[i]) < 0)
			return -1;
	return p->n > 0 && p->rounds > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct plan p = { .rounds = 200, .warmup = 5 };

	if (parse_args(&p, argc, argv) < 0) {
		fprintf(stderr, "usage: interleave [-c] [-n ROUNDS] [-w WARMUP] [-i IDLE_MS] [-j FILE] "
				"[-b PROGRAM] [-s FILE] [-d \"A B K C\"]... NAME CMD... [::: ...]\n");
		return 64;
	}
	if (make_stdio(&p) < 0) {
		fprintf(stderr, "interleave: pipes: %s\n", strerror(errno));
		return 1;
	}
	measure(&p);
	evaluate(&p);
	print_table(&p);
	print_derived(&p);
	return p.json ? write_json(&p) : 0;
}
