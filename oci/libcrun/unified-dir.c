/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/libcrun/unified-dir.h"

#include <errno.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/path.h"

#define UNIFIED "/sys/fs/cgroup/unified"
#define TRIES 100 /* of 1 ms */

char *unified_dir_find(const char *cgroup)
{
	char *dir;
	struct statfs fs;
	struct stat st;

	if (!cgroup || cgroup[0] != '/' || !cgroup[1] || statfs(UNIFIED, &fs) < 0 ||
	    fs.f_type != CGROUP2_SUPER_MAGIC)
		return NULL;
	dir = path_join(UNIFIED, cgroup + 1);
	if (dir && stat(dir, &st) == 0)
		return dir;
	free(dir);
	return NULL;
}

void unified_dir_remove(const char *dir)
{
	for (int i = 0; i < TRIES && rmdir(dir) < 0 && errno == EBUSY; i++)
		(void)poll(NULL, 0, 1);
}
