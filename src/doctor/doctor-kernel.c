/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "doctor/doctor-host.h"
#include "doctor/doctor-probe.h"

static void check_version(struct doctor_report *r, const struct dirs *d)
{
	unsigned int major = 0, minor = 0, need = d->rootless ? 11 : 19;
	struct utsname u;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2) {
		doctor_add(r, "HOST-KERNEL", DOCTOR_UNKNOWN, DOCTOR_WARN, NULL,
			   "the kernel's version cannot be read");
		return;
	}
	if (major > 5 || (major == 5 && minor >= need))
		doctor_add(r, "HOST-KERNEL", DOCTOR_OK, DOCTOR_INFO, NULL, "Linux %s", u.release);
	else
		doctor_add(r, "HOST-KERNEL", DOCTOR_LIMITED, DOCTOR_WARN,
			   "update the kernel, or use profiles whose workspace is not an overlay",
			   "Linux %s is older than 5.%u", u.release, need);
}

/* A number from /proc/sys; -1: missing in this kernel. */
static long read_sysctl(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *text = NULL;
	long value = -1;
	size_t len;

	if (fd < 0 || fd_read_all(fd, 64, &text, &len, NULL) < 0 || sscanf(text, "%ld", &value) != 1)
		return -1;
	return value;
}

static void check_userns(struct doctor_report *r, const struct doctor_probe *p)
{
	const char *remedy = "boot a kernel with CONFIG_USER_NS", *cause = "";

	if (p->userns == 0) {
		doctor_add(r, "HOST-USERNS", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "this user can create user namespaces");
		return;
	}
	if (read_sysctl("/proc/sys/user/max_user_namespaces") == 0) {
		cause = " (user.max_user_namespaces is 0)";
		remedy = "sudo custody setup USER; or as root: sysctl -w user.max_user_namespaces=15000";
	} else if (read_sysctl("/proc/sys/kernel/unprivileged_userns_clone") == 0) {
		cause = " (kernel.unprivileged_userns_clone is 0)";
		remedy = "sudo custody setup USER; or as root: sysctl -w kernel.unprivileged_userns_clone=1";
	} else if (read_sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1) {
		cause = " (kernel.apparmor_restrict_unprivileged_userns is 1)";
		remedy = "sudo custody setup USER, which loads an AppArmor profile with 'userns,'; or as "
			 "root: sysctl "
			 "-w kernel.apparmor_restrict_unprivileged_userns=0";
	} else if (p->userns == EPERM) {
		cause = " (in a container, its runtime may forbid it)";
		remedy = "let the outer container create namespaces (podman, docker: --security-opt "
			 "seccomp=unconfined), or "
			 "run custody outside of it";
	}
	doctor_add(r, "HOST-USERNS", DOCTOR_MISSING, DOCTOR_ERROR, remedy,
		   "cannot create a user namespace: %s%s",
		   p->userns > 0 ? strerror(p->userns) : "the test failed to run", cause);
}

static void check_mounts(struct doctor_report *r, const struct doctor_probe *p)
{
	if (p->proc == 0)
		doctor_add(r, "HOST-PROC", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "/proc can be mounted in a user namespace");
	else if (p->proc > 0)
		doctor_add(r, "HOST-PROC", DOCTOR_MISSING, DOCTOR_ERROR,
			   "uncover /proc of the outer container (podman: --security-opt unmask=/proc/*)",
			   "/proc cannot be mounted in a user namespace: %s", strerror(p->proc));
	else
		doctor_add(r, "HOST-PROC", DOCTOR_UNKNOWN, DOCTOR_WARN, NULL,
			   "not tried without a user namespace");
	if (p->overlay == 0)
		doctor_add(r, "HOST-OVERLAY", DOCTOR_OK, DOCTOR_INFO, NULL,
			   "an overlay can be mounted in a user namespace");
	else if (p->overlay > 0)
		doctor_add(r, "HOST-OVERLAY", DOCTOR_MISSING, DOCTOR_WARN,
			   p->overlay == ENODEV
				   ? "as root: modprobe overlay"
				   : "update to Linux 5.11, or use a profile with workspace.mode ro, rw or "
				     "tmpfs, or with workspace.overlay fuse",
			   "an overlay cannot be mounted in a user namespace: %s", strerror(p->overlay));
	else
		doctor_add(r, "HOST-OVERLAY", DOCTOR_UNKNOWN, DOCTOR_WARN, NULL,
			   "not tried without a user namespace");
}

static void check_calls(struct doctor_report *r)
{
	uint32_t action = SECCOMP_RET_ERRNO;
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (pidfd >= 0)
		doctor_add(r, "HOST-PIDFD", DOCTOR_OK, DOCTOR_INFO, NULL, "pidfd_open works");
	else
		doctor_add(r, "HOST-PIDFD", DOCTOR_MISSING, DOCTOR_ERROR, "update to Linux 5.3",
			   "pidfd_open fails: %s", strerror(errno));
	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
		doctor_add(r, "HOST-SECCOMP", DOCTOR_OK, DOCTOR_INFO, NULL, "system calls can be filtered");
	else
		doctor_add(r, "HOST-SECCOMP", DOCTOR_MISSING, DOCTOR_ERROR,
			   "boot a kernel with CONFIG_SECCOMP_FILTER", "system calls cannot be filtered: %s",
			   strerror(errno));
}

void doctor_check_kernel(struct doctor_report *r, const struct dirs *d)
{
	struct doctor_probe p;

	doctor_probe(&p);
	check_version(r, d);
	check_userns(r, &p);
	check_mounts(r, &p);
	check_calls(r);
}
