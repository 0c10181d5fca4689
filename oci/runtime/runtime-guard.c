/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/runtime/runtime-guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/libcrun/libcrun-guard.h"

#define MARK "_CUSTODY_RUNTIME_GUARDED"

extern char **environ;

/* Is the mount read-only, or the file a fully sealed memfd? */
static bool is_guarded(void)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct statfs fs;
	int have;

	if (fd < 0)
		return false;
	have = fcntl(fd, F_GET_SEALS);
	if (have >= 0 && (have & seals) == seals)
		return true;
	return fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_RDONLY);
}

/*
 * A detached read-only mount of the executable.  It was never attached to a mount namespace, and its descriptor is closed by
 * exec: no process can remount it.
 */
static int open_sealed(const char *program)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
	_cleanup_close_ int fd = -EBADF;

	fd = (int)syscall(SYS_open_tree, AT_FDCWD, program, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0 || syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int runtime_guard_enter(const char *program, char **argv, struct fault *f)
{
	bool again = getenv(MARK) != NULL;
	_cleanup_close_ int fd = -EBADF;

	(void)unsetenv(MARK);
	if (!program && is_guarded())
		return 0;
	/* Only once: a mount that is not reported as read-only must not cause an endless loop of exec. */
	if (!again) {
		fd = open_sealed(program ? program : "/proc/self/exe");
		if (fd >= 0 && setenv(MARK, "1", 1) == 0) {
			(void)syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
			(void)unsetenv(MARK);
		}
	}
	/* Without CAP_SYS_ADMIN or on an old kernel: a sealed copy in memory, as libcrun does. */
	if (program) {
		(void)execv(program, argv);
		return fault_errno(f, errno, "execute '%s'", program);
	}
	if (guard_by_copy() < 0)
		return fault_set(
			f, EPERM,
			"cannot run from a copy of the executable that containers cannot write "
			"(CVE-2019-5736): neither a read-only mount nor a sealed memfd is possible here");
	return 0;
}
