/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/id-map-write.h"

static int write_text(const char *path, const char *text, struct fault *f)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	return fault_wrap(f, fd_write_all(fd, text, strlen(text), f), "'%s'", path);
}

static int write_map(const char *path, unsigned int id, struct fault *f)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%u %u 1\n", id, id);
	return write_text(path, text, f);
}

int userns_enter(struct fault *f)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	int r;

	if (unshare(CLONE_NEWUSER) < 0)
		return fault_errno(f, errno, "create a user namespace");
	/* Without CAP_SETGID a group can be mapped only after setgroups is denied. */
	r = write_text("/proc/self/setgroups", "deny", f);
	if (r == 0)
		r = write_map("/proc/self/uid_map", uid, f);
	return r < 0 ? r : write_map("/proc/self/gid_map", gid, f);
}

/* From the process that stays outside, where newuidmap has its privilege. */
struct answer {
	int code; /* 0: the ids are mapped */
	char text[512];
};

static void write_for(pid_t parent, const struct id_map *map, int go, int out)
{
	_cleanup_fault_ struct fault f = { 0 };
	struct answer a = { 0 };
	char byte;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* End of file: there is no namespace. */
	if (getppid() != parent || read(go, &byte, 1) != 1)
		_exit(1);
	if (id_map_write(parent, map, &f) < 0) {
		a.code = f.code ? f.code : EIO;
		(void)snprintf(a.text, sizeof(a.text), "%s", fault_text(&f));
	}
	_exit(write(out, &a, sizeof(a)) == sizeof(a) ? 0 : 1);
}

static int wait_for(int in, struct fault *f)
{
	struct answer a;

	if (read(in, &a, sizeof(a)) != sizeof(a))
		return fault_set(f, EIO, "the process that maps the ids exited without an answer");
	a.text[sizeof(a.text) - 1] = '\0';
	return a.code ? fault_set(f, a.code, "%s", a.text) : 0;
}

int userns_enter_map(const struct id_map *map, struct fault *f)
{
	_cleanup_close_ int go = -EBADF, out = -EBADF;
	const pid_t self = getpid();
	struct id_map same;
	int down[2], up[2], r;
	pid_t pid;

	if (!id_map_is_set(map))
		return userns_enter(f);
	same = id_map_identity(map);
	if (pipe2(down, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "create a user namespace");
	go = down[1];
	if (pipe2(up, O_CLOEXEC) < 0) {
		(void)fd_close(down[0]);
		return fault_errno(f, errno, "create a user namespace");
	}
	out = up[0];
	pid = fork();
	if (pid == 0) {
		go = fd_close(go);
		write_for(self, &same, down[0], up[1]);
	}
	(void)fd_close(down[0]);
	(void)fd_close(up[1]);
	if (pid < 0)
		return fault_errno(f, errno, "create a user namespace");
	r = unshare(CLONE_NEWUSER) < 0 ? fault_errno(f, errno, "create a user namespace") : 0;
	if (r == 0 && write(go, "", 1) != 1)
		r = fault_errno(f, errno, "create a user namespace");
	go = fd_close(go);
	if (r == 0)
		r = wait_for(out, f);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return r;
}
