/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oci/hook/hook-gate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/init-proto.h"
#include "oci/hook/hook-attach.h"

#define GATE_SIZE 65536 /* bytes; one name needs less */
#define GATE_QUEUE 16	/* the first process is one; others are turned away as they come */

/* In glibc since 2.36. */
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#define MOUNT_ATTR_RDONLY 0x00000001
struct mount_attr {
	__u64 attr_set, attr_clr, propagation, userns_fd;
};
#endif

/* In the working directory. */
static int listen_here(int *ret, struct fault *f)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = INIT_GATE_NAME };
	mode_t mask =
		umask(0); /* every id of the container may connect: the warden checks which process does */
	int r = fd < 0 ? -1 : bind(fd, (struct sockaddr *)&a, sizeof(a));

	(void)umask(mask);
	if (r < 0 || listen(fd, GATE_QUEUE) < 0)
		return fault_errno(f, errno, "create the socket at which custody-init waits");
	*ret = TAKE_FD(fd);
	return 0;
}

/* A second mount of the working directory's file system, in which no process of the container can change anything. */
static int clone_read_only(int dir, int *ret, struct fault *f)
{
	_cleanup_close_ int tree =
		(int)syscall(SYS_open_tree, dir, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	struct mount_attr ro = { .attr_set = MOUNT_ATTR_RDONLY };

	if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &ro, sizeof(ro)) < 0)
		return fault_errno(f, errno, "make '%s' read-only", INIT_GATE_DIR);
	*ret = TAKE_FD(tree);
	return 0;
}

int hook_gate_place(int rootfd, bool rootless, int *ret_socket, int *ret_dir, struct fault *f)
{
	const struct hook_attach_point at = { .rootfd = rootfd,
					      .target = INIT_GATE_DIR,
					      .is_dir = true,
					      .uid = rootless ? 0 : geteuid(),
					      .gid = rootless ? 0 : getegid() };
	_cleanup_close_ int dir = -EBADF, listener = -EBADF, tree = -EBADF;
	int r;

	r = hook_attach_tmpfs(&at, GATE_SIZE, 0755, f);
	if (r < 0)
		return fault_wrap(f, r, "mount '%s'", at.target);
	dir = path_open_in_root(rootfd, at.target, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, f);
	if (dir < 0)
		return dir;
	if (fchdir(dir) < 0)
		return fault_errno(f, errno, "enter '%s'", at.target);
	r = listen_here(&listener, f);
	if (r >= 0)
		r = clone_read_only(dir, &tree, f);
	/* Only DIR still reaches the writable mount. */
	if (r >= 0 && umount2(".", MNT_DETACH) < 0)
		r = fault_errno(f, errno, "unmount '%s'", at.target);
	(void)!chdir("/");
	if (r >= 0)
		r = hook_attach_tree(&at, tree, f);
	if (r < 0)
		return r;
	*ret_socket = TAKE_FD(listener);
	*ret_dir = TAKE_FD(dir);
	return 0;
}
