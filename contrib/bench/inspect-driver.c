/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fd.h"
#include "inspect/inspect.h"

/*
 * inspect-driver [-v]: inspects each file that standard input names, one in a line; prints bytes per microsecond of CPU time (MB/s),
 * the number of files, of bytes, and of files in which something was found.  -v: all findings, before that.
 */
struct total {
	double seconds;
	size_t files, bytes, found;
};

static double cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void inspect_file(const char *name, bool verbose, struct total *total)
{
	_cleanup_close_ int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	_cleanup_inspect_found_ struct inspect_found found = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t len;
	double start;

	if (fd < 0 || fd_read_all(fd, INSPECT_TEXT_MAX, &text, &len, NULL) < 0)
		return;
	start = cpu_seconds();
	inspect_text(name, text, len, &found);
	total->seconds += cpu_seconds() - start;
	total->files++;
	total->bytes += len;
	total->found += found.total > 0;
	for (size_t i = 0; verbose && i < found.n; i++)
		printf("%s %s\n", inspect_rule_name(found.items[i].rule), found.items[i].place);
}

int main(int argc, char **argv)
{
	struct total total = { 0 };
	char name[4096];

	while (fgets(name, sizeof(name), stdin)) {
		name[strcspn(name, "\n")] = '\0';
		inspect_file(name, argc > 1 && strcmp(argv[1], "-v") == 0, &total);
	}
	printf("%.0f %zu %zu %zu\n", (double)total.bytes / 1e6 / (total.seconds + 1e-9), total.files,
	       total.bytes, total.found);
	return 0;
}
