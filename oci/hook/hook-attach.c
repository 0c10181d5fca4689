/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

/* In glibc since 2.36. */
#ifndef FSOPEN_CLOEXEC
#define FSOPEN_CLOEXEC 0x00000001
#define FSMOUNT_CLOEXEC 0x00000001
#define FSCONFIG_SET_FLAG 0
#define FSCONFIG_SET_STRING 1
#define FSCONFIG_CMD_CREATE 6
#define MOUNT_ATTR_RDONLY 0x00000001
#define MOUNT_ATTR_NOSUID 0x00000002
#define MOUNT_ATTR_NODEV 0x00000004
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#define MOVE_MOUNT_T_EMPTY_PATH 0x00000040
#endif

static int configure(int fs, unsigned int command, const char *key, const char *value, struct fault *f)
{
	char message[256];
	ssize_t n;
	int code;

	if (syscall(SYS_fsconfig, fs, command, key, value, 0) == 0)
		return 0;
	code = errno;
	/* The kernel's message, "e KIND: TEXT", if any. */
	n = read(fs, message, sizeof(message) - 1);
	message[n > 0 ? n : 0] = '\0';
	return fault_errno(f, code, "file system option '%s'%s%s", key ? key : "create", n > 2 ? ": " : "",
			   n > 2 ? message + 2 : "");
}

static int open_fs(const char *type, int *ret, struct fault *f)
{
	int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);

	if (fs < 0)
		return fault_errno(f, errno, "file system '%s'", type);
	*ret = fs;
	return 0;
}

static int finish_fs(int fs, unsigned int attr, int *ret, struct fault *f)
{
	int r, tree;

	r = configure(fs, FSCONFIG_CMD_CREATE, NULL, NULL, f);
	if (r < 0)
		return r;
	tree = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | attr);
	if (tree < 0)
		return fault_errno(f, errno, "mount a new file system");
	*ret = tree;
	return 0;
}

static int make_tmpfs(uint64_t size, mode_t mode, uid_t uid, gid_t gid, int *ret, struct fault *f)
{
	_cleanup_close_ int fs = -EBADF;
	char text[32];
	int r;

	r = open_fs("tmpfs", &fs, f);
	if (r >= 0 && size) {
		(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
		r = configure(fs, FSCONFIG_SET_STRING, "size", text, f);
	}
	if (r >= 0) {
		(void)snprintf(text, sizeof(text), "%o", mode);
		r = configure(fs, FSCONFIG_SET_STRING, "mode", text, f);
	}
	if (r >= 0) {
		(void)snprintf(text, sizeof(text), "%u", uid);
		r = configure(fs, FSCONFIG_SET_STRING, "uid", text, f);
	}
	if (r >= 0) {
		(void)snprintf(text, sizeof(text), "%u", gid);
		r = configure(fs, FSCONFIG_SET_STRING, "gid", text, f);
	}
	return r < 0 ? r : finish_fs(fs, 0, ret, f);
}

static int make_entry(const struct hook_attach_point *at, int dir, const char *name, bool is_dir,
		      struct fault *f)
{
	_cleanup_close_ int fd = -EBADF;

	if (is_dir && mkdirat(dir, name, 0755) < 0)
		return fault_errno(f, errno, "create the mount point '%s'", at->target);
	if (!is_dir) {
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd < 0)
			return fault_errno(f, errno, "create the mount point '%s'", at->target);
	}
	if (fchownat(dir, name, at->uid, at->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return fault_errno(f, errno, "chown the mount point '%s'", at->target);
	return 0;
}

/*
 * The target and the parents that it lacks, where the tree above is an overlay or tmpfs of ours.  Only the container's
 * first process, which waits, could change it meanwhile.
 */
static int make_point(const struct hook_attach_point *at, struct fault *f)
{
	_cleanup_free_ char *path = strdup(at->target);
	int r = 0;

	if (!path)
		return fault_errno(f, ENOMEM, "mount point");
	for (char *slash = path, *end; r == 0 && *slash; slash = end) {
		_cleanup_close_ int dir = -EBADF;
		struct stat st;
		char kept;

		*slash = '\0';
		dir = path_open_in_root(at->rootfd, path[0] ? path : "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
					f);
		*slash = '/';
		if (dir < 0)
			return dir;
		end = strchrnul(slash + 1, '/');
		kept = *end;
		*end = '\0';
		if (fstatat(dir, slash + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
			r = make_entry(at, dir, slash + 1, kept || at->is_dir, f);
		*end = kept;
	}
	return r;
}

static int open_point(const struct hook_attach_point *at, int *ret, struct fault *f)
{
	struct stat st;
	int fd, r;

	fd = path_open_in_root(at->rootfd, at->target, O_PATH | O_CLOEXEC, 0, NULL);
	if (fd == -ENOENT) {
		r = make_point(at, f);
		if (r < 0)
			return r;
	} else if (fd >= 0) {
		fd_close(fd);
	}
	fd = path_open_in_root(at->rootfd, at->target, O_PATH | O_CLOEXEC, 0, f);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode) != !at->is_dir) {
		fd_close(fd);
		return fault_set(f, at->is_dir ? ENOTDIR : EISDIR,
				 "the mount point has another type than its source");
	}
	*ret = fd;
	return 0;
}

static int move(int tree, int point, struct fault *f)
{
	if (syscall(SYS_move_mount, tree, "", point, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) <
	    0)
		return fault_errno(f, errno, "attach the mount");
	return 0;
}

int hook_attach_tree(const struct hook_attach_point *at, int tree, struct fault *f)
{
	_cleanup_close_ int point = -EBADF;
	int r = open_point(at, &point, f);

	return r < 0 ? r : move(tree, point, f);
}

int hook_attach_tmpfs(const struct hook_attach_point *at, uint64_t size, mode_t mode, struct fault *f)
{
	_cleanup_close_ int tree = -EBADF;
	int r = make_tmpfs(size, mode, at->uid, at->gid, &tree, f);

	return r < 0 ? r : hook_attach_tree(at, tree, f);
}

static int make_mask(bool is_dir, int *ret, struct fault *f)
{
	_cleanup_close_ int fs = -EBADF;
	int r;

	if (is_dir) {
		r = open_fs("tmpfs", &fs, f);
		if (r >= 0)
			r = configure(fs, FSCONFIG_SET_FLAG, "ro", NULL, f);
		return r < 0 ? r : finish_fs(fs, MOUNT_ATTR_RDONLY, ret, f);
	}
	*ret = (int)syscall(SYS_open_tree, AT_FDCWD, "/dev/null", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	return *ret < 0 ? fault_errno(f, errno, "open '/dev/null'") : 0;
}

int hook_attach_mask(const struct hook_attach_point *at, struct fault *f)
{
	_cleanup_close_ int point = -EBADF, tree = -EBADF;
	struct stat st;
	int r;

	point = path_open_in_root(at->rootfd, at->target, O_PATH | O_CLOEXEC, 0, NULL);
	if (point == -ENOENT || point == -ENOTDIR)
		return 0;
	if (point < 0)
		return fault_errno(f, -point, "open '%s'", at->target);
	if (fstat(point, &st) < 0)
		return fault_errno(f, errno, "stat '%s'", at->target);
	r = make_mask(S_ISDIR(st.st_mode), &tree, f);
	return r < 0 ? r : move(tree, point, f);
}

/* The merged root takes owner and mode from the upper directory. */
static int make_dirs(const struct hook_attach_point *at, int dir, int tree, struct fault *f)
{
	struct stat st;

	if (fstat(tree, &st) < 0)
		return fault_errno(f, errno, "worktree");
	if (mkdirat(dir, "sealed", 0755) < 0 || mkdirat(dir, "lower", 0755) < 0 ||
	    mkdirat(dir, "upper", 0700) < 0 || mkdirat(dir, "work", 0700) < 0)
		return fault_errno(f, errno, "create the overlay's directories");
	if (fchownat(dir, "upper", at->uid, at->gid, 0) < 0 ||
	    fchownat(dir, "work", at->uid, at->gid, 0) < 0 ||
	    fchmodat(dir, "upper", st.st_mode & 0777, 0) < 0)
		return fault_errno(f, errno, "chown the overlay's directories");
	return 0;
}

/* A user's overlay stores its xattrs as user.*; tmpfs supports those since Linux 6.6. */
static int require_user_xattr(int dir, struct fault *f)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/upper", dir);
	if (syscall(SYS_setxattr, path, "user.overlay.custody", "y", 1, 0) == 0 || errno != EOPNOTSUPP)
		return 0;
	return fault_set(f, EOPNOTSUPP,
			 "an overlay without root needs user.* attributes on tmpfs (Linux 6.6): write the "
			 "bundle as root, or with another workspace.mode");
}

/* Lower trees and options of one overlay. */
struct overlay_spec {
	int tree, sealed;
	bool writable, userxattr;
	bool alone; /* no sealed files: an empty directory is the second lower, below TREE */
};

static int make_overlay(const struct overlay_spec *l, int *ret, struct fault *f)
{
	_cleanup_close_ int fs = -EBADF;
	int r;

	r = open_fs("overlay", &fs, f);
	/* Relative to the working directory: an option's text is at most 255 bytes long. */
	if (r >= 0)
		r = configure(fs, FSCONFIG_SET_STRING, "lowerdir",
			      l->alone	      ? "lower:sealed"
			      : l->sealed < 0 ? "lower"
					      : "sealed:lower",
			      f);
	if (r >= 0 && l->writable)
		r = configure(fs, FSCONFIG_SET_STRING, "upperdir", "upper", f);
	if (r >= 0 && l->writable)
		r = configure(fs, FSCONFIG_SET_STRING, "workdir", "work", f);
	if (r >= 0 && l->userxattr)
		r = configure(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, f);
	if (r >= 0 && l->writable)
		r = configure(fs, FSCONFIG_SET_FLAG, "volatile", NULL, f);
	return r < 0 ? r : finish_fs(fs, l->writable ? 0 : MOUNT_ATTR_RDONLY, ret, f);
}

static int move_into(int tree, int dir, const char *name, struct fault *f)
{
	_cleanup_close_ int point = -EBADF;

	if (tree < 0)
		return 0;
	point = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return point < 0 ? fault_errno(f, errno, "open the overlay's directory '%s'", name)
			 : move(tree, point, f);
}

/* In the tmpfs DIR, the working directory, which is attached while overlayfs looks up upper and lowers. */
static int build_overlay(const struct hook_attach_point *at, int dir, const struct overlay_spec *l, int *ret,
			 struct fault *f)
{
	int r;

	r = make_dirs(at, dir, l->tree, f);
	if (r >= 0 && l->userxattr && l->writable)
		r = require_user_xattr(dir, f);
	if (r >= 0)
		r = move_into(l->tree, dir, "lower", f);
	if (r >= 0)
		r = move_into(l->sealed, dir, "sealed", f);
	return r < 0 ? r : make_overlay(l, ret, f);
}

static int attach_spec(const struct hook_attach_point *at, const struct overlay_spec *l, uint64_t size,
		       int *ret_upper, struct fault *f)
{
	_cleanup_close_ int layers = -EBADF, merged = -EBADF;
	int r, undo;

	r = make_tmpfs(size, 0700, l->userxattr ? 0 : geteuid(), l->userxattr ? 0 : getegid(), &layers, f);
	if (r >= 0)
		r = hook_attach_tree(at, layers, f);
	if (r < 0)
		return r;
	if (fchdir(layers) < 0)
		return fault_errno(f, errno, "enter the overlay's directory");
	r = build_overlay(at, layers, l, &merged, f);
	if (r >= 0 && ret_upper) {
		*ret_upper = openat(layers, "upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (*ret_upper < 0)
			r = fault_errno(f, errno, "open the overlay's upper");
	}
	/* overlayfs holds upper and lowers from here on; no process inside can name them. */
	undo = umount2(".", MNT_DETACH);
	if (r >= 0 && undo < 0)
		r = fault_errno(f, errno, "unmount the overlay's directories");
	(void)!chdir("/");
	return r < 0 ? r : hook_attach_tree(at, merged, f);
}

int hook_attach_overlay(const struct hook_attach_point *at, int tree, int sealed, uint64_t size,
			bool userxattr, int *ret_upper, struct fault *f)
{
	const struct overlay_spec l = {
		.tree = tree, .sealed = sealed, .writable = true, .userxattr = userxattr
	};

	return attach_spec(at, &l, size, ret_upper, f);
}

int hook_attach_sealed(const struct hook_attach_point *at, int tree, int sealed, bool userxattr,
		       struct fault *f)
{
	const struct overlay_spec l = { .tree = tree, .sealed = sealed, .userxattr = userxattr };

	return attach_spec(at, &l, 0, NULL, f);
}

int hook_attach_read_only(const struct hook_attach_point *at, int tree, struct fault *f)
{
	const struct overlay_spec l = { .tree = tree, .sealed = -EBADF, .alone = true };

	return attach_spec(at, &l, 0, NULL, f);
}
