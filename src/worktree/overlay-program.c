/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/call-filter.h"
#include "base/fd.h"
#include "base/path.h"
#include "worktree/overlay-server.h"
#include "worktree/worktree.h"

/*
 * Environment of the program: a root of its own with the host's programs, read-only, and the four directories
 * of one overlay; one id, with power over that id's files only; no network, no other process, no way to gain
 * privileges; the payload's system call filter.  It handles requests of a payload, so it is trusted no more
 * than the payload.
 */
#define FUSE_FD 3
#define HIGH_FD 10
#define OPTIONS "lowerdir=%s/lower,upperdir=/l/u,workdir=/l/w,volatile,writeback=0"

/* Directories of the program's libraries; a link of the host is the same link here. */
static const char *const system_dirs[] = { "usr", "lib", "lib32", "lib64", "libx32" };
#define N_SYSTEM ARRAY_SIZE(system_dirs)

struct program_trees {
	int lower, sealed, layers;
	int system[N_SYSTEM];
	char links[N_SYSTEM][256]; /* "": a tree */
};

/* With the mounts below it: in a user namespace the kernel does not separate them. */
static int clone_system(const char *path, int *ret, struct fault *f)
{
	struct {
		uint64_t set, clear, propagation, userns_fd;
	} attr = { .set = 0x1 | 0x2 | 0x4 }; /* MOUNT_ATTR_RDONLY, NOSUID, NODEV */
	int tree = (int)syscall(SYS_open_tree, AT_FDCWD, path,
				1 | O_CLOEXEC | AT_RECURSIVE); /* OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC */

	if (tree < 0)
		return fault_errno(f, errno, "clone the mount of '%s'", path);
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return fault_errno(f, errno, "restrict the mount of '%s'", path);
	*ret = tree;
	return 0;
}

static int clone_systems(struct program_trees *t, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < N_SYSTEM; i++) {
		char path[16];
		ssize_t n;
		struct stat st;

		t->system[i] = -EBADF;
		(void)snprintf(path, sizeof(path), "/%s", system_dirs[i]);
		n = readlink(path, t->links[i], sizeof(t->links[i]) - 1);
		t->links[i][n > 0 ? n : 0] = '\0';
		if (n < 0 && stat(path, &st) == 0)
			r = clone_system(path, &t->system[i], f);
	}
	return r;
}

/* For custody's own directories, whose paths may contain links. */
static int clone_own(const char *path, bool rw, int *ret, struct fault *f)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	return real ? worktree_clone(real, rw, NULL, ret, f) : fault_errno(f, errno, "'%s'", path);
}

static int place_systems(int dirfd, const struct program_trees *t, struct fault *f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < N_SYSTEM; i++) {
		if (t->system[i] >= 0)
			r = worktree_place(t->system[i], dirfd, system_dirs[i], f);
		else if (t->links[i][0] && symlinkat(t->links[i], dirfd, system_dirs[i]) < 0)
			r = fault_errno(f, errno, "link '%s'", system_dirs[i]);
	}
	return r;
}

static int enter_root(int dirfd, struct fault *f)
{
	if (fchdir(dirfd) < 0 || mkdir("proc", 0755) < 0)
		return fault_errno(f, errno, "create the root of fuse-overlayfs");
	/*
	 * Before the old /proc is detached: without a visible one the kernel does not allow a new mount of
	 * proc.
	 */
	if (mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return fault_errno(f, errno, "mount /proc for fuse-overlayfs (custody doctor: HOST-PROC)");
	if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return fault_errno(f, errno, "enter the root of fuse-overlayfs");
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) < 0)
		return fault_errno(f, errno, "make the root of fuse-overlayfs read-only");
	return 0;
}

static int build_root(const struct overlay_server_request *o, struct fault *f)
{
	static struct program_trees t;
	int dirfd = -EBADF, r;

	t.sealed = -EBADF;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fault_errno(f, errno, "detach the mounts of fuse-overlayfs");
	r = worktree_clone(o->lower, false, NULL, &t.lower, f);
	if (r == 0 && o->sealed[0])
		r = clone_own(o->sealed, false, &t.sealed, f);
	if (r == 0)
		r = clone_own(o->layers, true, &t.layers, f);
	if (r == 0)
		r = clone_systems(&t, f);
	/* On the mount point itself: no other process uses it here, and all sources are open. */
	if (r == 0)
		r = worktree_mount_tmpfs(o->point, &dirfd, f);
	if (r == 0)
		r = place_systems(dirfd, &t, f);
	if (r == 0)
		r = worktree_place(t.lower, dirfd, "lower", f);
	if (r == 0 && t.sealed >= 0)
		r = worktree_place(t.sealed, dirfd, "sealed", f);
	if (r == 0)
		r = worktree_place(t.layers, dirfd, "l", f);
	return r < 0 ? r : enter_root(dirfd, f);
}

/*
 * The one capability covers files of the one id in the user namespace: a directory that its owner may not
 * write is still copied up and written, as in the kernel's overlay.
 */
static int drop_rights(struct fault *f)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	const uint32_t kept = 1u << CAP_DAC_OVERRIDE;

	for (unsigned long cap = 0; cap < 64; cap++)
		if (cap != CAP_DAC_OVERRIDE && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
			return fault_errno(f, errno, "drop capabilities");
	data[0] =
		(struct __user_cap_data_struct){ .effective = kept, .permitted = kept, .inheritable = kept };
	if (syscall(SYS_capset, &head, data) < 0)
		return fault_errno(f, errno, "drop capabilities");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_OVERRIDE, 0, 0) < 0)
		return fault_errno(f, errno, "keep a capability");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fault_errno(f, errno, "set no_new_privs");
	return 0;
}

static int set_limits(const struct overlay_server_limits *l, struct fault *f)
{
	struct rlimit none = { 0 }, heap = { .rlim_cur = l->memory, .rlim_max = l->memory };

	if (setrlimit(RLIMIT_CORE, &none) < 0 || (l->memory && setrlimit(RLIMIT_DATA, &heap) < 0))
		return fault_errno(f, errno, "limit fuse-overlayfs");
	return 0;
}

/* The reader of the pipe is gone, and with it every user of the file system. */
static bool is_reader_gone(int err)
{
	struct pollfd p = { .fd = err };

	return poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

static int take_descriptors(int fuse, int err, struct fault *f)
{
	/*
	 * Move the descriptors out of the way, then into place.  0 and 1 are already /dev/null, from the
	 * monitor.
	 */
	fuse = fcntl(fuse, F_DUPFD_CLOEXEC, HIGH_FD);
	err = fcntl(err, F_DUPFD_CLOEXEC, HIGH_FD);
	if (fuse < 0 || err < 0 || dup2(err, STDERR_FILENO) < 0 || dup2(fuse, FUSE_FD) < 0 ||
	    close_range(FUSE_FD + 1, ~0U, 0) < 0)
		return fault_errno(f, errno, "prepare descriptors of fuse-overlayfs");
	return 0;
}

void overlay_program_exec(const struct overlay_server_request *o, const struct overlay_server_limits *l,
			  int fuse, int err)
{
	char options[128], device[16];
	char *argv[] = { (char *)"fuse-overlayfs", (char *)"-f", (char *)"-o", options, device, NULL };
	char *envp[] = { NULL };
	struct fault f = { 0 };
	int r;

	(void)snprintf(options, sizeof(options), OPTIONS, o->sealed[0] ? "/sealed:" : "");
	(void)snprintf(device, sizeof(device), "/dev/fd/%d", FUSE_FD);
	r = build_root(o, &f);
	if (r == 0)
		r = take_descriptors(fuse, err, &f);
	err = r == 0 ? STDERR_FILENO : err;
	if (r == 0)
		r = set_limits(l, &f);
	if (r == 0)
		r = drop_rights(&f);
	if (r == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || is_reader_gone(err)))
		_exit(1);
	if (r == 0)
		r = fault_wrap(&f, call_filter_install(l->seccomp, &f),
			       "filter the system calls of fuse-overlayfs");
	if (r == 0) {
		(void)execve(OVERLAY_SERVER_PROGRAM, argv, envp);
		(void)fault_errno(&f, errno, "execute " OVERLAY_SERVER_PROGRAM);
	}
	(void)dprintf(err, "%s", fault_text(&f));
	_exit(1);
}
