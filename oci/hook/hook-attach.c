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
#include "base/new-mount.h"
#include "base/path.h"

static int make_tmpfs(uint64_t size, mode_t mode, uid_t uid, gid_t gid, int *ret, struct fault *f)
{
	_cleanup_close_ int fs = -EBADF;
	char text[32];
	int r;

	r = new_mount_open("tmpfs", &fs, f);
	if (r >= 0 && size) {
		(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
		r = new_mount_set(fs, "size", text, f);
	}
	if (r >= 0) {
		(void)snprintf(text, sizeof(text), "%o", mode);
		r = new_mount_set(fs, "mode", text, f);
	}
	if (r >= 0) {
		(void)snprintf(text, sizeof(text), "%u", uid);
		r = new_mount_set(fs, "uid", text, f);
	}
	if (r >= 0) {
		(void)snprintf(text, sizeof(text), "%u", gid);
		r = new_mount_set(fs, "gid", text, f);
	}
	return r < 0 ? r : new_mount_finish(fs, 0, ret, f);
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
		r = new_mount_open("tmpfs", &fs, f);
		if (r >= 0)
			r = new_mount_set(fs, "ro", NULL, f);
		return r < 0 ? r : new_mount_finish(fs, MOUNT_ATTR_RDONLY, ret, f);
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

	r = new_mount_open("overlay", &fs, f);
	/* Relative to the working directory: an option's text is at most 255 bytes long. */
	if (r >= 0)
		r = new_mount_set(fs, "lowerdir",
				  l->alone	  ? "lower:sealed"
				  : l->sealed < 0 ? "lower"
						  : "sealed:lower",
				  f);
	if (r >= 0 && l->writable)
		r = new_mount_set(fs, "upperdir", "upper", f);
	if (r >= 0 && l->writable)
		r = new_mount_set(fs, "workdir", "work", f);
	if (r >= 0 && l->userxattr)
		r = new_mount_set(fs, "userxattr", NULL, f);
	if (r >= 0 && l->writable)
		r = new_mount_set(fs, "volatile", NULL, f);
	return r < 0 ? r : new_mount_finish(fs, l->writable ? 0 : MOUNT_ATTR_RDONLY, ret, f);
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
