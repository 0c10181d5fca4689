/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/engine/engine-exec-cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define TEXT_MAX ((size_t)64 * 1024)

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

/* Does TEXT have the line, of LEN bytes? */
static bool has_line(const char *text, const char *line, size_t len)
{
	for (; *text; text = next_line(text))
		if (strcspn(text, "\n") == len && memcmp(text, line, len) == 0)
			return true;
	return false;
}

bool engine_exec_cgroup_is_outside(const char *caller, const char *first, const char *process)
{
	for (const char *line = process; *line; line = next_line(line)) {
		size_t len = strcspn(line, "\n");

		if (has_line(caller, line, len) && !has_line(first, line, len))
			return true;
	}
	return *process == '\0';
}

static char *read_of(pid_t pid, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	char path[32];
	size_t len;

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		(void)fault_errno(f, errno, "open '%s'", path);
		return NULL;
	}
	return fd_read_all(fd, TEXT_MAX, &text, &len, f) < 0 ? NULL : TAKE_PTR(text);
}

int engine_exec_cgroup_require(pid_t first, pid_t process, struct fault *f)
{
	_cleanup_free_ char *own = read_of(getpid(), f), *theirs = own ? read_of(first, f) : NULL,
			    *its = theirs ? read_of(process, f) : NULL;

	if (!its)
		return -EIO;
	if (!engine_exec_cgroup_is_outside(own, theirs, its))
		return 0;
	return fault_set(
		f, EPERM,
		"nothing was started: the cgroup that --cgroup names is missing below the container's, so "
		"the command would run without its limits; create it in each hierarchy, or leave --cgroup "
		"out");
}
