/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/seam.h"
#include "base/str.h"

/*
 * The seam of tests/custody-seamed:
 *
 *	CUSTODY_SEAM=POINT	where something happens, once per process
 *	CUSTODY_SEAM_TIME=N	the Nth time that it is reached; default 1
 *	CUSTODY_SEAM_DO=	die: kill -9 of this process (default)
 *				parent: of its parent as well, and that one first
 *				group: of its process group
 *				starve: no descriptor can be opened until the next point is reached
 *				wait: until a test has read from CUSTODY_SEAM_GATE, a FIFO, and then written to it
 *	CUSTODY_SEAM_LOG=FILE	a line is added for every point that is reached
 */
static void note(const char *point)
{
	const char *path = getenv("CUSTODY_SEAM_LOG");
	char line[128];
	int fd, n;

	if (!path)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	n = snprintf(line, sizeof(line), "%s\n", point);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		abort();
	(void)close(fd);
}

static void die(const char *how)
{
	if (strcmp(how, "parent") == 0)
		(void)kill(getppid(), SIGKILL);
	(void)kill(strcmp(how, "group") == 0 ? 0 : getpid(), SIGKILL);
	for (;;)
		(void)pause();
}

/* Descriptors that are open stay so: only new ones are refused. */
static void starve(bool hungry)
{
	static struct rlimit before;
	static bool starved;
	struct rlimit none;

	if (hungry == starved)
		return;
	if (hungry && getrlimit(RLIMIT_NOFILE, &before) == 0) {
		none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
		starved = setrlimit(RLIMIT_NOFILE, &none) == 0;
	} else if (!hungry) {
		starved = setrlimit(RLIMIT_NOFILE, &before) != 0;
	}
}

static void wait_at(const char *gate)
{
	char c = '\n';
	int fd = open(gate, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, &c, 1) != 1 || close(fd) < 0)
		abort();
	fd = open(gate, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &c, 1) < 0 || close(fd) < 0)
		abort();
}

void seam(const char *point)
{
	static atomic_uint reached;
	const char *at = getenv("CUSTODY_SEAM"), *time = getenv("CUSTODY_SEAM_TIME"),
		   *how = getenv("CUSTODY_SEAM_DO"), *gate = getenv("CUSTODY_SEAM_GATE");
	uint64_t when = 1;

	starve(false);
	note(point);
	if (time && str_to_u64(time, &when) < 0)
		abort();
	if (!at || strcmp(at, point) != 0 || ++reached != when)
		return;
	if (how && strcmp(how, "starve") == 0)
		starve(true);
	else if (how && strcmp(how, "wait") == 0)
		wait_at(gate ? gate : "");
	else
		die(how ? how : "die");
}
