/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "container/container-orphan.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/process.h"
#include "container/container-tree.h"

#define DEATH_MS 10000 /* a killed process that lives longer hangs in the kernel */

/* A pidfd of the container's first process; -ESRCH: it has exited, and its pid may have been reused. */
static int open_process(const struct container_info *d)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, d->pid, 0);
	int error = fd < 0 ? errno : 0, r;
	uint64_t start = 0;

	/* Check this also if pidfd_open failed: the pid may be a thread's now, which is not ESRCH. */
	r = process_start_time(d->pid, &start);
	if (r == 0 || (r == 1 && start != d->start))
		return -ESRCH;
	if (error || r < 0)
		return error ? -error : r;
	return TAKE_FD(fd);
}

/* Before the runtime's pivot_root the path of the worktree would resolve on the host. */
static bool has_own_root(int root)
{
	struct stat host, own;

	return stat("/", &host) == 0 && fstat(root, &own) == 0 &&
	       (host.st_dev != own.st_dev || host.st_ino != own.st_ino);
}

static void hold_engine(struct container_orphan *o)
{
	struct container_tree t = CONTAINER_TREE_NONE;

	o->why = "its warden died, and the worktree cannot be opened again";
	if (container_tree_open(o->info.pid, o->info.work, &t, NULL) == 0)
		o->why = NULL;
	o->tree = t.held.tree;
	o->upper = t.held.upper;
}

static void hold(struct container_orphan *o)
{
	_cleanup_close_ int root = -EBADF;
	char path[sizeof("/proc//root") + 3 * sizeof(pid_t)];

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)o->info.pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) {
		o->why = "its warden died, and only root can open the worktree";
		return;
	}
	o->why = "its warden died before the worktree was mounted";
	if (!has_own_root(root))
		return;
	o->tree = path_open_in_root(root, o->info.work, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, NULL);
	if (o->tree >= 0)
		o->why = NULL;
	else
		o->tree = -EBADF;
}

static void forget(struct container_orphan *o)
{
	o->tree = fd_close(o->tree);
	o->upper = fd_close(o->upper);
}

/* 0: dead. The kernel kills all processes of a PID namespace with its first process. */
static int kill_process(int pidfd, struct fault *f)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int r;

	if (syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		return fault_errno(f, errno, "kill a container whose warden died");
	do
		r = poll(&p, 1, DEATH_MS);
	while (r < 0 && errno == EINTR);
	return r == 1 ? 0
		      : fault_set(f, EBUSY, "a container whose warden died was killed, but does not exit");
}

int container_orphan_end(int sessionfd, struct container_orphan *ret, struct fault *f)
{
	_cleanup_container_orphan_ struct container_orphan o = CONTAINER_ORPHAN_NONE;
	_cleanup_close_ int pidfd = -EBADF;
	int r;

	if (faccessat(sessionfd, CONTAINER_INFO_NAME, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	r = container_info_read(sessionfd, &o.info, f);
	if (r < 0)
		return r;
	o.why = "its warden died before the container, and the descriptors of the worktree are lost";
	pidfd = open_process(&o.info);
	if (pidfd >= 0) {
		if (o.info.engine)
			hold_engine(&o);
		else
			hold(&o);
		/* /proc/PID/root was that of PIDFD's process only if that process is still alive. */
		if (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0)
			forget(&o);
		r = kill_process(pidfd, f);
	} else if (pidfd != -ESRCH) {
		r = fault_errno(f, -pidfd, "container '%s'", o.info.container);
	}
	if (r < 0)
		return r;
	*ret = o;
	o = CONTAINER_ORPHAN_NONE;
	return 1;
}

void container_orphan_done(struct container_orphan *o)
{
	container_info_done(&o->info);
	forget(o);
}
