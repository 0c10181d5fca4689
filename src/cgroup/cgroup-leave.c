/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup/cgroup-leave.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "cgroup/cgroup-file.h"
#include "cgroup/cgroup-host.h"

static bool move_to(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && cgroup_file_write(fd, "cgroup.procs", "0") >= 0;
}

/* Cuts the last component; false at ROOT. */
static bool ascend(char *path, const char *root)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path || str_eq(path, root) || !path_is_below(path, root))
		return false;
	*slash = '\0';
	return true;
}

/* MINE and ITS are directories of one hierarchy, ROOT is its mount point. */
static void leave(const char *mine, const char *its, const char *root)
{
	_cleanup_free_ char *pod = its ? strdup(its) : NULL;

	if (!mine || !pod || !root || !ascend(pod, root) || str_eq(pod, root) || !path_is_below(mine, pod))
		return;
	while (ascend(pod, root))
		if (move_to(pod))
			return;
}

void cgroup_leave(pid_t pid)
{
	_cleanup_cgroup_host_ struct cgroup_host mine = { 0 }, its = { 0 };

	if (cgroup_host_load(&mine, NULL) < 0 || cgroup_host_load_of(pid, &its, NULL) < 0)
		return;
	for (int c = 0; c < _CGROUP_CONTROLLER_MAX; c++)
		leave(mine.v1[c], its.v1[c], mine.v1_root[c]);
	leave(mine.v2, its.v2, mine.v2_root);
}
