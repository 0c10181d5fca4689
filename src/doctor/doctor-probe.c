/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		r = errno;
	(void)close(fd);
	return r;
}

static int map_one_id(uid_t uid, gid_t gid)
{
	char line[48];
	int r;

	(void)snprintf(line, sizeof(line), "0 %u 1", (unsigned int)uid);
	r = write_text("/proc/self/uid_map", line);
	if (r == 0)
		r = write_text("/proc/self/setgroups", "deny");
	(void)snprintf(line, sizeof(line), "0 %u 1", (unsigned int)gid);
	return r ? r : write_text("/proc/self/gid_map", line);
}

/* On a tmpfs over /tmp, visible in this namespace only. */
static int mount_overlay(void)
{
	if (mount("probe", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") < 0)
		return errno;
	if (mkdir("/tmp/a", 0700) < 0 || mkdir("/tmp/b", 0700) < 0 || mkdir("/tmp/c", 0700) < 0)
		return errno;
	if (mount("overlay", "/tmp/c", "overlay", MS_RDONLY, "lowerdir=/tmp/a:/tmp/b,userxattr") < 0)
		return errno;
	return 0;
}

static void look(struct doctor_probe *p, uid_t uid, gid_t gid)
{
	p->userns = map_one_id(uid, gid);
	if (p->userns)
		return;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		p->userns = errno;
		return;
	}
	p->proc = mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 ? errno : 0;
	p->overlay = mount_overlay();
}

void doctor_probe(struct doctor_probe *ret)
{
	struct doctor_probe *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uid_t uid = geteuid();
	gid_t gid = getegid();
	pid_t pid;

	*ret = (struct doctor_probe){ -1, -1, -1 };
	if (shared == MAP_FAILED)
		return;
	*shared = *ret;
	/* A pid namespace as well: /proc can only be mounted by the owner of its pid namespace. */
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | SIGCHLD, NULL, NULL,
			     NULL, NULL);
	if (pid == 0) {
		look(shared, uid, gid);
		_exit(0);
	}
	if (pid < 0)
		shared->userns = errno;
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	*ret = *shared;
	(void)munmap(shared, sizeof(*shared));
}
