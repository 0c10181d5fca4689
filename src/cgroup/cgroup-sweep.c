/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "cgroup/cgroup.h"

/*
 * The cgroup of a killed supervisor is normally found through its session's directory.  If that was deleted too (with
 * its CUSTODY_ROOT), only an empty cgroup remains.  The next session that creates a cgroup beside it removes it:
 *
 * 1. MUST be named for a session and belong to this user.
 * 2. MUST NOT be locked: every supervisor holds a shared lock on the directory for its whole life, and one that is
 *    between mkdir and flock notices the removal and creates the directory again (cgroup.c).
 * 3. MUST be empty: rmdir decides, no process is killed.
 */
#define PREFIX "custody-"
#define YOUNG_S 60 /* not checked: many concurrent runs would check each other's */

bool cgroup_is_of_session(const char *name)
{
	/* "20261116T031500Z-1a2b3c4d" */
	static const char shape[] = "99999999T999999Z-ffffffff";

	if (!str_starts(name, PREFIX))
		return false;
	name += strlen(PREFIX);
	for (size_t i = 0; i < sizeof(shape); i++) {
		bool digit = name[i] >= '0' && name[i] <= '9';

		if (shape[i] == 'f' ? !digit && (name[i] < 'a' || name[i] > 'f')
				    : name[i] != shape[i] && !(shape[i] == '9' && digit))
			return false;
	}
	return true;
}

/* Ids begin with their UTC time, so that they compare as text. */
static bool is_young(const char *name, const char *limit)
{
	return strncmp(name + strlen(PREFIX), limit, strlen(limit)) > 0;
}

static void remove_unheld(int parent, const char *name)
{
	_cleanup_close_ int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	/* Locked until it is removed: a supervisor that waits for the lock then notices and retries. */
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

static void sweep_beside(const char *dir, const char *limit)
{
	_cleanup_free_ char *parent = strdup(dir);
	char *slash = parent ? strrchr(parent, '/') : NULL;
	struct dirent *e;
	DIR *d;

	if (!slash)
		return;
	*slash = '\0';
	d = opendir(parent);
	if (!d)
		return;
	while ((e = readdir(d)))
		if (cgroup_is_of_session(e->d_name) && !is_young(e->d_name, limit))
			remove_unheld(dirfd(d), e->d_name);
	(void)closedir(d);
}

void cgroup_sweep(const struct cgroup *c)
{
	char limit[sizeof("20261116T031500Z")];
	time_t then = time(NULL) - YOUNG_S;
	struct tm tm;

	if (!gmtime_r(&then, &tm) || strftime(limit, sizeof(limit), "%Y%m%dT%H%M%SZ", &tm) == 0)
		return;
	for (size_t i = 0; i < c->n_nodes; i++)
		sweep_beside(c->nodes[i].dir, limit);
}
