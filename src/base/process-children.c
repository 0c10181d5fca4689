/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process-children.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "base/str.h"

#define TEXT_MAX 8192

/* Is PARENT the parent of PID? */
static bool is_child(uint64_t pid, pid_t parent)
{
	char path[48], text[512], *at;
	uint64_t found;
	_cleanup_close_ int fd = -EBADF;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* "PID (NAME) STATE PPID ...": the name may hold parentheses. */
	at = strrchr(text, ')');
	if (!at || strlen(at) <= 4)
		return false;
	at += 4;
	at[strcspn(at, " ")] = '\0';
	return str_to_u64(at, &found) == 0 && found == (uint64_t)parent;
}

size_t process_children_scan(pid_t *ret, size_t max)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	while (proc && n < max && (e = readdir(proc))) {
		uint64_t pid;

		if (str_to_u64(e->d_name, &pid) == 0 && is_child(pid, getpid()))
			ret[n++] = (pid_t)pid;
	}
	return n;
}

size_t process_children(pid_t *ret, size_t max)
{
	_cleanup_close_ int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	char text[TEXT_MAX], *at = text, *end;
	ssize_t len;
	size_t n = 0;

	if (fd < 0)
		return process_children_scan(ret, max);
	len = read(fd, text, sizeof(text) - 1);
	text[len < 0 ? 0 : len] = '\0';
	/* Each number has a space behind it; one without is cut off, and is there again the next time. */
	for (; n < max && (end = strchr(at, ' ')); at = end + 1) {
		uint64_t pid;

		*end = '\0';
		if (str_to_u64(at, &pid) == 0)
			ret[n++] = (pid_t)pid;
	}
	return n;
}
