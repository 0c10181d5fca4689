/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pidfd-status.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

/* linux/pidfd.h has it since 6.13, the exit status since 6.15; this is its first, fixed size. */
struct info {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
_Static_assert(sizeof(struct info) == 64, "PIDFD_INFO_SIZE_VER0");
#define GET_INFO _IOWR(0xFF, 11, struct info)
#define INFO_EXIT (UINT64_C(1) << 3)

#define STAT_EXIT_CODE 52 /* field of /proc/PID/stat, counted from 1 */

/* The releases in between have the call, and ignore the bit that asks for the status. */
static bool is_since_6_15(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 15);
}

bool pidfd_end_supported(void)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct info info = { .mask = INFO_EXIT };

	return fd >= 0 && ioctl(fd, GET_INFO, &info) >= 0 && is_since_6_15();
}

bool pidfd_end_status(int pidfd, int *ret)
{
	struct info info = { .mask = INFO_EXIT };

	if (ioctl(pidfd, GET_INFO, &info) < 0 || !(info.mask & INFO_EXIT))
		return false;
	*ret = info.exit_code;
	return true;
}

bool pidfd_is_unreaped(int pidfd)
{
	return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0;
}

bool pidfd_end_zombie(pid_t pid, int *ret)
{
	_cleanup_close_ int fd = -EBADF;
	char path[32], text[1024], *at;
	int64_t status;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* The name may hold anything; field 3 follows its last parenthesis. */
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || at[2] != 'Z')
		return false;
	at += 2;
	for (int field = 3; at && field < STAT_EXIT_CODE; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return false;
	at[strspn(at, "0123456789")] = '\0';
	if (str_to_i64(at, &status) < 0 || status > INT32_MAX)
		return false;
	/* The kernel shows zero to unprivileged readers. Only root sees the value for certain. */
	if (status == 0 && geteuid() != 0)
		return false;
	*ret = (int)status;
	return true;
}
