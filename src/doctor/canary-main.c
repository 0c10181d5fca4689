/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"
#include "base/exit-status.h"
#include "doctor/canary.h"
#include "layer/inherit-table.h"

/* clang-format off */
enum { PID = 1, SHM, PORT, SOCKET, HOSTNAME, SECRET, WORK, MODE, TREE, NS };
static const struct option options[] = {
	{ "pid", required_argument, NULL, PID },
	{ "shm", required_argument, NULL, SHM },
	{ "port", required_argument, NULL, PORT },
	{ "socket", required_argument, NULL, SOCKET },
	{ "hostname", required_argument, NULL, HOSTNAME },
	{ "secret", required_argument, NULL, SECRET },
	{ "work", required_argument, NULL, WORK },
	{ "work-mode", required_argument, NULL, MODE },
	{ "tree", required_argument, NULL, TREE },
	{ "ns", required_argument, NULL, NS },
	{ 0 },
};
/* clang-format on */

/* "1,2,3": inode numbers in the order of enum init_ns. */
static bool parse_ns(char *text, uint64_t ns[8])
{
	char *save = NULL, *word = strtok_r(text, ",", &save);

	for (int i = 0; i < 8 && word; i++, word = strtok_r(NULL, ",", &save))
		if (str_to_u64(word, &ns[i]) < 0)
			return false;
	return !word;
}

static bool parse_number(int option, const char *text, struct canary_facts *f)
{
	uint64_t v;

	if (str_to_u64(text, &v) < 0 || v > INT32_MAX)
		return false;
	if (option == PID)
		f->pid = (pid_t)v;
	else if (option == SHM)
		f->shm = (int)v;
	else
		f->port = (uint16_t)v;
	return true;
}

static bool parse(int argc, char **argv, struct canary_facts *f)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case PID:
		case SHM:
		case PORT:
			if (!parse_number(c, optarg, f))
				return false;
			break;
		case SOCKET:
			f->socket = optarg;
			break;
		case HOSTNAME:
			f->hostname = optarg;
			break;
		case SECRET:
			f->secret = optarg;
			break;
		case WORK:
			f->work = optarg;
			break;
		case MODE:
			f->work_mode = optarg;
			break;
		case TREE:
			f->tree = optarg;
			break;
		case NS:
			if (!parse_ns(optarg, f->ns))
				return false;
			break;
		default:
			return false;
		}
	}
	return optind == argc && f->pid > 1;
}

static void report(const struct canary_try *t, int result, bool killed)
{
	const char *name = killed		  ? "SIGSYS"
			   : result == TRY_HIDDEN ? "hidden"
			   : result > 0		  ? strerrorname_np(result)
						  : NULL;

	printf("{\"try\":\"%s\",\"layer\":\"%s\",\"stopped\":%s,\"by\":", t->what, layer_info(t->layer)->name,
	       result == 0 && !killed ? "false" : "true");
	if (name)
		printf("\"%s\"}\n", name);
	else if (result > 0)
		printf("\"errno %d\"}\n", result);
	else
		printf("null}\n");
}

/* ROW: of the inherit table, for a try without a function of its own. In a child: a filter may kill it, and a try may change its process.  The result is returned in SHARED. */
static bool run_try(const struct canary_try *t, const struct canary_facts *f, unsigned int row,
		    volatile int *shared)
{
	int status = 0;
	pid_t pid;

	*shared = TRY_HIDDEN - 1;
	(void)fflush(stdout);
	pid = fork();
	if (pid < 0)
		return false;
	if (pid == 0) {
		*shared = t->run ? t->run(f) : canary_inherit(row, f);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) {
		report(t, 0, true);
		return true;
	}
	if (*shared == TRY_NONE)
		return true;
	if (*shared < TRY_HIDDEN)
		return false;
	report(t, *shared, false);
	return true;
}

static int fail_try(const struct canary_try *t)
{
	fprintf(stderr, "custody-canary: try '%s' returned no result\n", t->what);
	return STATUS_FAILED;
}

int main(int argc, char **argv)
{
	const struct canary_try *const tables[] = { canary_names, canary_places, canary_calls };
	struct canary_facts facts = { .shm = -1 };
	int *shared;

	if (!parse(argc, argv, &facts)) {
		fprintf(stderr, "custody-canary: started by 'custody doctor', not by hand\n");
		return STATUS_USAGE;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return STATUS_FAILED;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct canary_try *t = tables[i]; t->what; t++)
			if (!run_try(t, &facts, 0, shared))
				return fail_try(t);
	for (unsigned int i = 0; i < _INHERIT_MAX; i++) {
		struct canary_try t;
		char what[64];

		if (canary_inherits(i, &t, what, sizeof(what)) && !run_try(&t, &facts, i, shared))
			return fail_try(&t);
	}
	printf("{\"done\":true}\n");
	return fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILED;
}
