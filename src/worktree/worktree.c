/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/seam.h"
#include "base/str.h"

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

#define ID_LAST (UINT32_MAX - 1)

struct attr {
	uint64_t attr_set, attr_clr, propagation, userns_fd;
};

int worktree_leave_host(struct fault *f)
{
	if (unshare(CLONE_NEWNS) < 0)
		return fault_errno(f, errno, "create a mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fault_errno(f, errno, "detach the mount namespace from the host's");
	seam("host-left");
	return 0;
}

int worktree_mount_tmpfs(const char *point, int *ret, struct fault *f)
{
	int fd;

	/* 64 MiB of sealed operands, and as much for everything else. */
	if (mount("custody", point, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=128m") < 0)
		return fault_errno(f, errno, "mount a tmpfs on '%s'", point);
	seam("tmpfs-mounted");
	fd = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", point);
	*ret = fd;
	return 0;
}

/* FROM as TO, and every id but these two as itself: between them, before and behind. */
static void put_map(char *text, size_t size, unsigned int from, unsigned int to, bool keep_others)
{
	const unsigned int low = from < to ? from : to, high = from < to ? to : from;
	size_t n = (size_t)snprintf(text, size, "%u %u 1\n", from, to);

	if (!keep_others)
		return;
	if (low > 0)
		n += (size_t)snprintf(text + n, size - n, "0 0 %u\n", low);
	if (high > low + 1)
		n += (size_t)snprintf(text + n, size - n, "%u %u %u\n", low + 1, low + 1, high - low - 1);
	if (high < ID_LAST)
		(void)snprintf(text + n, size - n, "%u %u %u\n", high + 1, high + 1, ID_LAST - high);
}

static int write_map(pid_t pid, const char *file, unsigned int from, unsigned int to, bool keep_others,
		     struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	char path[48], text[256];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", path);
	put_map(text, sizeof(text), from, to, keep_others);
	/* One write is one map.  In a user namespace of our own not every id exists: then this one alone. */
	if (keep_others && write(fd, text, strlen(text)) > 0)
		return 0;
	put_map(text, sizeof(text), from, to, false);
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
	r = write_map(pid, "uid_map", ids->from_uid, ids->to_uid, ids->keep_others, f);
	if (r == 0)
		r = write_map(pid, "gid_map", ids->from_gid, ids->to_gid, ids->keep_others, f);
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
		struct worktree_ids all = *ids;

		/* Where nothing is written: a writable tree of the host shows no id that the payload does not have. */
		all.keep_others = !rw;
		r = map_tree(tree, &all, source, f);
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

/*
 * An upper of another overlay: overlayfs takes its attributes for marks of a lower layer and hides what they say was removed.
 * Only the root is read, which overlayfs marks as soon as something was copied up: the whole tree would cost too much.
 */
static int require_no_marks(const char *tree, struct fault *f)
{
	static const char *const prefixes[] = { "user.overlay.", "trusted.overlay.", "user.fuseoverlayfs." };
	_cleanup_free_ char *names = NULL;
	ssize_t n = listxattr(tree, NULL, 0);

	if (n <= 0)
		return n < 0 && errno != EOPNOTSUPP ? fault_errno(f, errno, "worktree '%s'", tree) : 0;
	names = malloc(XATTR_LIST_MAX);
	if (!names)
		return fault_errno(f, ENOMEM, "worktree");
	n = listxattr(tree, names, XATTR_LIST_MAX);
	for (const char *name = names; n > 0 && name < names + n; name += strlen(name) + 1)
		for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
			if (str_starts(name, prefixes[i]))
				return fault_set(f, EINVAL,
						 "worktree '%s' is a layer of another overlay (attribute "
						 "'%s'), whose marks "
						 "would hide files: use a copy without them (cp -r '%s' "
						 "COPY), or setfattr "
						 "-x %s '%s' if it is none",
						 tree, name, tree, name, tree);
	return n < 0 ? fault_errno(f, errno, "worktree '%s'", tree) : 0;
}

int worktree_make_upper(const char *state, const char *tree, uid_t uid, gid_t gid, struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	if (stat(tree, &st) < 0)
		return fault_errno(f, errno, "worktree '%s'", tree);
	r = require_no_marks(tree, f);
	if (r < 0)
		return r;
	fd = open(state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fault_errno(f, errno, "open '%s'", state);
	if (fchown(fd, uid, gid) < 0)
		return fault_errno(f, errno, "give '%s' to uid %u", state, (unsigned int)uid);
	r = make_dir(fd, "u", st.st_mode & 0777, uid, gid, f);
	return r < 0 ? r : make_dir(fd, "w", 0700, uid, gid, f);
}
