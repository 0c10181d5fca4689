/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "setup/setup-ids.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define STATUS_MAX 4096 /* the ids stand in its first lines */

/* Behind KEY, "\nUid:\t" or "\nGid:\t": the real, effective, saved and file-system id, with a tab between each. */
static bool has_id(const char *status, const char *key, uint64_t first, uint64_t count)
{
	const char *at = strstr(status, key);
	_cleanup_free_ char *line = at ? strndup(at + strlen(key), strcspn(at + strlen(key), "\n")) : NULL;
	char *rest = line, *word;
	uint64_t id;

	while (rest && (word = strsep(&rest, "\t")))
		if (str_to_u64(word, &id) == 0 && id >= first && id - first < count)
			return true;
	return false;
}

/* A process that ended meanwhile has none. */
static bool uses(int proc, const char *pid, uint64_t first, uint64_t count)
{
	char path[64], status[STATUS_MAX];
	_cleanup_close_ int fd = -EBADF;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/status", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	if (n <= 0)
		return false;
	status[n] = '\0';
	return has_id(status, "\nUid:\t", first, count) || has_id(status, "\nGid:\t", first, count);
}

int setup_ids_require_unused(const char *line, struct fault *f)
{
	const char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL;
	_cleanup_free_ char *number = count ? strndup(first + 1, (size_t)(count - first - 1)) : NULL;
	uint64_t from, n;
	struct dirent *e;
	DIR *proc;
	int r = 0;

	if (!number || str_to_u64(number, &from) < 0 || str_to_u64(count + 1, &n) < 0)
		return fault_set(f, EINVAL, "'%s' is not NAME:FIRST:COUNT", line);
	proc = opendir("/proc");
	if (!proc)
		return fault_errno(f, errno, "open '/proc'");
	while (r == 0 && (e = readdir(proc)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && uses(dirfd(proc), e->d_name, from, n))
			r = fault_set(f, EBUSY,
				      "process %s has an id of '%s': repeat this when the runs of the user "
				      "have ended",
				      e->d_name, line);
	(void)closedir(proc);
	return r;
}
