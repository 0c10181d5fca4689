/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

/* glibc has these only since 2.36; the numbers are the same on every architecture. */
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef OPEN_TREE_CLOEXEC
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#endif
#ifndef MOUNT_ATTR_RDONLY
#define MOUNT_ATTR_RDONLY 0x00000001
#define MOUNT_ATTR_NOSUID 0x00000002
#define MOUNT_ATTR_NODEV 0x00000004
#endif
#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

struct attr {
	uint64_t attr_set, attr_clr, propagation, userns_fd;
};

int worktree_leave_host(struct fault *f)
{
	if (unshare(CLONE_NEWNS) < 0)
		return fault_errno(f, errno, "create a mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fault_errno(f, errno, "detach the mount namespace from the host's");
	return 0;
}

int worktree_mount_tmpfs(const char *point, int *ret, struct fault *f)
{
	int fd;

	/* 64 MiB of sealed operands, and as much for everything else. */
	if (mount("custody", point, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=128m") < 0)
		return fault_errno(f, errno, "mount a tmpfs on '%s'", point);
	fd = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", point);
	*ret = fd;
	return 0;
}

static int write_map(pid_t pid, const char *file, unsigned int from, unsigned int to, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char path[48], text[48];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	(void)snprintf(text, sizeof(text), "%u %u 1\n", from, to);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	return fault_wrap(f, fd_write_all(fd, text, strlen(text), f), "'%s'", path);
}

/* A user namespace is created by a process.  This one shares our memory and only blocks in a system call. */
static int hold_userns(void *arg)
{
	(void)arg;
	for (;;)
		(void)poll(NULL, 0, -1);
	return 0;
}

int worktree_open_userns(const struct worktree_ids *ids, int *ret, struct fault *f)
{
	char stack[8192] __attribute__((aligned(16)));
	char path[48];
	pid_t pid;
	int r, fd = -EBADF;

	/* CLONE_VM avoids copying the page tables. */
	pid = clone(hold_userns, stack + sizeof(stack), CLONE_NEWUSER | CLONE_VM | SIGCHLD, NULL);
	if (pid < 0)
		return fault_errno(
			f, errno,
			"create a user namespace (sysctl -w user.max_user_namespaces=15000 allows them)");
	r = write_map(pid, "uid_map", ids->from_uid, ids->to_uid, f);
	if (r == 0)
		r = write_map(pid, "gid_map", ids->from_gid, ids->to_gid, f);
	if (r == 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			r = fault_errno(f, errno, "open '%s'", path);
	}
	/* It never runs again and needs its stack no more; worktree_finish reaps it. */
	(void)kill(pid, SIGKILL);
	if (r == 0)
		*ret = fd;
	return r;
}

void worktree_finish(void)
{
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
}

static int set_attr(int tree, const struct attr *a)
{
	return syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, a, sizeof(*a)) < 0 ? -errno : 0;
}

static int map_tree(int tree, const struct worktree_ids *ids, const char *source, struct fault *f)
{
	_cleanup_close_ int userns = -EBADF;
	struct attr a = { .attr_set = MOUNT_ATTR_IDMAP };
	int r;

	r = worktree_open_userns(ids, &userns, f);
	if (r < 0)
		return r;
	a.userns_fd = (uint64_t)userns;
	r = set_attr(tree, &a);
	if (r == -EINVAL || r == -ENOSYS || r == -EOPNOTSUPP)
		return fault_set(
			f, EOPNOTSUPP,
			"cannot map the owner of '%s': its file system does not support it on this kernel; "
			"use a directory on ext4, xfs, btrfs or tmpfs, or one that does not belong to root",
			source);
	return r < 0 ? fault_errno(f, -r, "map the owner of '%s'", source) : 0;
}

/* The resolved path was checked; a component replaced by a link since then is refused. */
static int open_tree_at(const char *source, struct fault *f)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	_cleanup_close_ int fd = (int)syscall(SYS_openat2, AT_FDCWD, source, &how, sizeof(how));
	int tree;

	if (fd < 0 && errno == ELOOP)
		return fault_set(f, ELOOP, "'%s' was replaced by a symbolic link since it was checked",
				 source);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", source);
	tree = (int)syscall(SYS_open_tree, fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	return tree < 0 ? fault_errno(f, errno, "clone the mount of '%s'", source) : tree;
}

int worktree_clone(const char *source, bool rw, const struct worktree_ids *ids, int *ret, struct fault *f)
{
	_cleanup_close_ int tree = -EBADF;
	struct attr a = { .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | (rw ? 0 : MOUNT_ATTR_RDONLY) };
	int r;

	tree = open_tree_at(source, f);
	if (tree < 0)
		return tree;
	r = set_attr(tree, &a);
	if (r < 0)
		return fault_errno(f, -r, "restrict the mount of '%s'", source);
	if (ids) {
		r = map_tree(tree, ids, source, f);
		if (r < 0)
			return r;
	}
	*ret = TAKE_FD(tree);
	return 0;
}

int worktree_place(int tree, int dirfd, const char *name, struct fault *f)
{
	struct stat st;
	int fd;

	if (fstat(tree, &st) < 0)
		return fault_errno(f, errno, "mount point '%s'", name);
	if (S_ISDIR(st.st_mode)) {
		if (mkdirat(dirfd, name, 0755) < 0)
			return fault_errno(f, errno, "create mount point '%s'", name);
	} else {
		fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0)
			return fault_errno(f, errno, "create mount point '%s'", name);
		(void)fd_close(fd);
	}
	if (syscall(SYS_move_mount, tree, "", dirfd, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fault_errno(f, errno, "mount on '%s'", name);
	return 0;
}

static int make_dir(int dirfd, const char *name, mode_t mode, uid_t uid, gid_t gid, struct fault *f)
{
	if (mkdirat(dirfd, name, 0700) < 0)
		return fault_errno(f, errno, "create overlay directory '%s'", name);
	if (fchownat(dirfd, name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "give overlay directory '%s' to uid %u", name,
				   (unsigned int)uid);
	if (mode != 0700 && fchmodat(dirfd, name, mode, 0) < 0)
		return fault_errno(f, errno, "set the mode of overlay directory '%s'", name);
	return 0;
}

int worktree_make_upper(const char *state, const char *tree, uid_t uid, gid_t gid, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	if (stat(tree, &st) < 0)
		return fault_errno(f, errno, "worktree '%s'", tree);
	fd = open(state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", state);
	if (fchown(fd, uid, gid) < 0)
		return fault_errno(f, errno, "give '%s' to uid %u", state, (unsigned int)uid);
	r = make_dir(fd, "u", st.st_mode & 0777, uid, gid, f);
	return r < 0 ? r : make_dir(fd, "w", 0700, uid, gid, f);
}
