/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/overlay-server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/walk.h"
#include "worktree/overlay-monitor.h"
#include "base/tree-at.h"
#include "worktree/worktree.h"

static int require_program(struct fault *f)
{
	struct stat st;

	if (stat(OVERLAY_SERVER_PROGRAM, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(OVERLAY_SERVER_PROGRAM, X_OK) == 0)
		return 0;
	return fault_set(f, ENOENT,
			 "the profile sets workspace.overlay fuse, but cannot execute " OVERLAY_SERVER_PROGRAM
			 ": " OVERLAY_SERVER_INSTALL ", or remove the key to use the kernel's overlay");
}

int overlay_server_require(struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r = require_program(f);

	if (r < 0)
		return r;
	fd = open(OVERLAY_SERVER_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(10, 229))
		return 0;
	if (fd >= 0)
		errno = ENODEV;
	if (errno == EACCES || errno == EPERM)
		return fault_errno(f, errno,
				   "the profile sets workspace.overlay fuse, but " OVERLAY_SERVER_DEVICE
				   " is not accessible: as root: chmod 0666 " OVERLAY_SERVER_DEVICE ": open");
	return fault_errno(f, errno,
			   "the profile sets workspace.overlay fuse, which needs " OVERLAY_SERVER_DEVICE
			   ": as root: " OVERLAY_SERVER_INSTALL " && modprobe fuse: open");
}

int overlay_server_start(const struct overlay_server_limits *l, struct overlay_server *ret, struct fault *f)
{
	pid_t parent = getpid(), pid;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return fault_errno(f, errno, "create a socket for the overlay monitor");
	pid = fork();
	if (pid == 0)
		overlay_monitor(fd[1], parent, l);
	(void)fd_close(fd[1]);
	if (pid < 0) {
		(void)fd_close(fd[0]);
		return fault_errno(f, errno, "start the overlay monitor");
	}
	*ret = (struct overlay_server){
		.pid = pid, .pidfd = (int)syscall(SYS_pidfd_open, pid, 0), .fd = fd[0], .guard = -1
	};
	return 0;
}

/*
 * A process blocked on fuse-overlayfs can only be killed, so a separate guard process accesses it repeatedly.
 */
static bool answers(int tree)
{
	pid_t parent = getpid(), pid = fork();
	struct statfs fs;
	struct pollfd p;

	if (pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
			_exit(1);
		(void)!fstatfs(tree, &fs);
		_exit(0);
	}
	p = (struct pollfd){ .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	if (pid < 0 || p.fd < 0 || poll(&p, 1, OVERLAY_SERVER_TIMEOUT_S * 1000) == 0)
		return false;
	(void)close(p.fd);
	(void)waitpid(pid, NULL, 0);
	return true;
}

static void guard(int pidfd, int tree, pid_t parent) __attribute__((noreturn));
static void guard(int pidfd, int tree, pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	if (tree < 0)
		(void)poll(NULL, 0, OVERLAY_SERVER_TIMEOUT_S * 1000);
	else
		while (answers(tree))
			(void)poll(NULL, 0, 1000);
	(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	_exit(0);
}

int overlay_server_guard(struct overlay_server *s, int tree, struct fault *f)
{
	pid_t parent = getpid();
	int held[2];
	char none;

	if (s->fd < 0)
		return 0;
	overlay_server_unguard(s);
	if (pipe2(held, O_CLOEXEC) < 0)
		return fault_errno(f, errno, "start the guard of fuse-overlayfs");
	s->guard = fork();
	if (s->guard == 0) {
		/* No descriptor of the caller may stay open in the guard. */
		if (dup2(s->pidfd, 0) < 0 || (tree >= 0 && dup2(tree, 1) < 0))
			_exit(1);
		(void)close_range(tree >= 0 ? 2 : 1, ~0U, 0);
		guard(0, tree >= 0 ? 1 : -EBADF, parent);
	}
	(void)fd_close(held[1]);
	/*
	 * Wait until the guard has closed its copies: a pipe that it still held would never report its end.
	 */
	while (s->guard > 0 && read(held[0], &none, 1) < 0 && errno == EINTR)
		;
	(void)fd_close(held[0]);
	return s->guard < 0 ? fault_errno(f, errno, "start the guard of fuse-overlayfs") : 0;
}

void overlay_server_unguard(struct overlay_server *s)
{
	if (s->guard > 0) {
		(void)kill(s->guard, SIGKILL);
		while (waitpid(s->guard, NULL, 0) < 0 && errno == EINTR)
			;
	}
	s->guard = -1;
}

/* The monitor sends one message, when it is done. */
static int hear(int fd, int flags, struct fault *f)
{
	struct overlay_monitor_result end = { 0 };
	ssize_t n;

	do
		n = recv(fd, &end, sizeof(end) - 1, flags);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	return fault_set(f, EIO, "fuse-overlayfs, which serves the worktree's overlay, exited: %s",
			 n > 0 ? end.text : "it was killed or stopped responding");
}

int overlay_server_check(const struct overlay_server *s, int tree, struct fault *f)
{
	struct statfs fs;

	if (s->fd < 0)
		return 0;
	/* The kernel detects a dead server before the monitor does; this call always asks it. */
	if (tree >= 0 && fstatfs(tree, &fs) < 0 && (errno == ENOTCONN || errno == ECONNABORTED))
		return hear(s->fd, 0, f);
	return hear(s->fd, MSG_DONTWAIT, f);
}

void overlay_server_stop(struct overlay_server *s)
{
	overlay_server_unguard(s);
	s->fd = fd_close(s->fd);
	s->pidfd = fd_close(s->pidfd);
	while (s->pid > 0 && waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = -1;
}

static int open_userns(const struct overlay_server_mount_args *a, int *ret, struct fault *f)
{
	const struct worktree_ids ids = {
		.from_uid = a->uid, .to_uid = a->uid, .from_gid = a->gid, .to_gid = a->gid
	};

	if (!a->rootless)
		return worktree_open_userns(&ids, ret, f);
	*ret = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	return *ret < 0 ? fault_errno(f, errno, "open our user namespace") : 0;
}

/*
 * As root all ids of the container, and the supervisor, may access the file system, and its modes decide.  A
 * user's container has one id, which is also the supervisor's: every other id is refused.
 */
static int mount_fuse(int fuse, const struct overlay_server_mount_args *a, struct fault *f)
{
	char options[160];

	(void)snprintf(options, sizeof(options),
		       "fd=%d,rootmode=40000,user_id=%u,group_id=%u,default_permissions%s", fuse,
		       (unsigned int)a->uid, (unsigned int)a->gid, a->rootless ? "" : ",allow_other");
	if (mount("fuse-overlayfs", a->point, OVERLAY_SERVER_TYPE, MS_NOSUID | MS_NODEV, options) < 0)
		return fault_errno(f, errno, "mount " OVERLAY_SERVER_TYPE " on '%s'", a->point);
	return 0;
}

static int put(char field[OVERLAY_SERVER_PATH_MAX], const char *path, struct fault *f)
{
	if (snprintf(field, OVERLAY_SERVER_PATH_MAX, "%s", path ? path : "") < OVERLAY_SERVER_PATH_MAX)
		return 0;
	return fault_errno(f, ENAMETOOLONG, "'%s'", path);
}

static int send_request(int fd, const struct overlay_server_mount_args *a, const int *fds, struct fault *f)
{
	struct overlay_server_request o = { .uid = a->uid, .gid = a->gid, .rootless = a->rootless };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(OVERLAY_MONITOR_FDS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = &o, .iov_len = sizeof(o) };
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	int r;

	r = put(o.lower, a->lower, f);
	if (r == 0)
		r = put(o.sealed, a->sealed, f);
	if (r == 0)
		r = put(o.layers, a->layers, f);
	if (r == 0)
		r = put(o.point, a->point, f);
	if (r < 0)
		return r;
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(OVERLAY_MONITOR_FDS * sizeof(int));
	memcpy(CMSG_DATA(c), fds, OVERLAY_MONITOR_FDS * sizeof(int));
	if (sendmsg(fd, &h, MSG_NOSIGNAL) != (ssize_t)sizeof(o))
		return fault_errno(f, errno, "send a request to the overlay monitor");
	return 0;
}

int overlay_server_mount(int fd, const struct overlay_server_mount_args *a, struct fault *f)
{
	int fds[OVERLAY_MONITOR_FDS] = { -EBADF, -EBADF, -EBADF };
	struct stat st;
	int r;

	if (a->uid == 0 || a->gid == 0)
		return fault_set(f, EPERM, "refused: fuse-overlayfs would run as root");
	r = open_userns(a, &fds[OVERLAY_MONITOR_USER], f);
	if (r == 0 && (fds[OVERLAY_MONITOR_MOUNT] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC)) < 0)
		r = fault_errno(f, errno, "open our mount namespace");
	/* In the user namespace that mounts it: the kernel requires both to be the same. */
	if (r == 0 && (fds[OVERLAY_MONITOR_FUSE] = open(OVERLAY_SERVER_DEVICE, O_RDWR | O_CLOEXEC)) < 0)
		r = fault_errno(f, errno, "open " OVERLAY_SERVER_DEVICE);
	if (r == 0)
		r = mount_fuse(fds[OVERLAY_MONITOR_FUSE], a, f);
	if (r == 0)
		r = send_request(fd, a, fds, f);
	/* The mount lives until the last copy of the device is closed: only the program may hold one. */
	for (size_t i = 0; i < OVERLAY_MONITOR_FDS; i++)
		(void)fd_close(fds[i]);
	if (r == 0 && stat(a->point, &st) < 0) {
		r = errno == ENOTCONN || errno == ECONNABORTED ? hear(fd, 0, f)
							       : fault_errno(f, errno, "'%s'", a->point);
	}
	return r;
}

static void list(struct tree_at *t, const char *path)
{
	int dir, fd = tree_at_dir(t, path, &dir) < 0 ? -EBADF
						     : openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		(void)fd_close(fd);
		return;
	}
	while (readdir(d))
		;
	(void)closedir(d);
}

void overlay_server_refresh(int tree, int upper)
{
	_cleanup_tree_at_ struct tree_at t = TREE_AT_NONE;
	_cleanup_walk_ struct walk *w = NULL;
	struct walk_entry e;
	int r;

	if (tree_at_init(&t, tree, NULL) < 0 || walk_new(upper, 0, &w, NULL) < 0)
		return;
	while ((r = walk_next(w, &e, NULL)) > 0)
		if (r == WALK_ENTER)
			list(&t, e.path);
}
