/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/str.h"
#include "tests/unit/policy-fixture.h"

/*
 * policy-driver COUNT [FILE]: decides COUNT subjects and prints the number per second of CPU time.  Without FILE a
 * mix of everyday commands; with FILE the lines of a test corpus, each as text of sh -c.
 */
#define LINES_MAX 1024
#define LINE_MAX_LEN 1024

static const char *const everyday[] = {
	"make",		"ls -la",
	"git status",	"rm -rf build",
	"cargo test",	"git log --oneline | head",
	"npm test",	"cd src && make -j4",
	"./configure",	"grep -rn TODO src",
	"python3 x.py", "git add -A && git commit -m 'x'",
};

static char lines[LINES_MAX][LINE_MAX_LEN];
static size_t n_lines;

static void load(const char *path)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[LINE_MAX_LEN];

	for (size_t i = 0; !path && i < ARRAY_SIZE(everyday); i++)
		(void)snprintf(lines[n_lines++], LINE_MAX_LEN, "%s", everyday[i]);
	while (file && n_lines < LINES_MAX && fgets(line, sizeof(line), file)) {
		char *tab = strchr(line, '\t'), *end = tab ? strchr(tab + 1, '\t') : NULL;

		if (line[0] != '#' && end)
			(void)snprintf(lines[n_lines++], LINE_MAX_LEN, "%.*s", (int)(end - tab - 1), tab + 1);
	}
	if (file)
		(void)fclose(file);
}

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", lang[] = "LANG=C.UTF-8",
		    home[] = "HOME=/home/user";
	char *env[] = { home, lang, path, NULL };
	uint64_t count = 0, asked = 0;
	double start;

	if (argc < 2 || str_to_u64(argv[1], &count) < 0 || count == 0)
		return 64;
	load(argc > 2 ? argv[2] : NULL);
	start = cpu_seconds();
	for (uint64_t i = 0; n_lines > 0 && i < count; i++) {
		char *command[] = { (char *)"sh", (char *)"-c", lines[i % n_lines], NULL };
		struct policy_facts facts = policy_sandbox;
		_cleanup_verdict_ struct verdict *v = NULL;

		facts.argv = command;
		facts.env = env;
		facts.intention = INTENTION_AUTONOMOUS;
		if (policy_decide(&facts, &v, NULL) < 0)
			return 125;
		asked += v->level != 'A';
	}
	printf("%.0f\n", (double)count / (cpu_seconds() - start));
	(void)fprintf(stderr, "%.1f%% asked\n", 100.0 * (double)asked / (double)count);
	return n_lines == 0;
}
