/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "warden/container-facts.h"

#define LEVELS_MAX 512	 /* of directories above the working directory */
#define DEVICES_MAX 4096 /* entries of /dev */

/*
 * Paths are resolved by the kernel from the container's own root, and magic links are refused.  The file systems may belong to an
 * untrusted process (FUSE): nothing is read from them but what a path walk needs and, below /proc, /sys and /dev, entries of a directory.
 */

/* What FD, an O_PATH descriptor, refers to. */
static void describe(int fd, struct container_place *ret)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_MNT_ID, &st) < 0) {
		ret->err = errno;
		return;
	}
	if (!(st.stx_mask & STATX_MNT_ID)) { /* since Linux 5.8 */
		ret->err = EOPNOTSUPP;
		return;
	}
	ret->mount = st.stx_mnt_id;
	ret->dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	ret->ino = st.stx_ino;
	ret->directory = S_ISDIR(st.stx_mode);
	ret->null_device = S_ISCHR(st.stx_mode) && st.stx_rdev_major == 1 && st.stx_rdev_minor == 3;
}

static int open_place(int root, const char *path, int flags, struct container_place *ret)
{
	int fd = path_open_in_root(root, path, O_PATH | O_CLOEXEC | flags, 0, NULL);

	if (fd < 0)
		ret->err = -fd;
	else
		describe(fd, ret);
	return fd;
}

static void find_place(int root, const char *path, int flags, struct container_place *ret)
{
	_cleanup_close_ int fd = open_place(root, path, flags, ret);
}

/* Has the directory FD (O_PATH) no entries?  One that cannot be read may have some. */
static bool is_empty(int fd)
{
	_cleanup_close_ int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_dir_ DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	if (!d)
		return false;
	(void)fd_take(&copy);
	errno = 0;
	while ((e = readdir(d)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			return false;
	return errno == 0;
}

static void find_mask(int root, const char *path, struct container_place *ret)
{
	_cleanup_close_ int fd = open_place(root, path, 0, ret);

	if (fd >= 0 && !ret->err && ret->directory &&
	    (path_is_below(path, "/proc") || path_is_below(path, "/sys")))
		ret->empty = is_empty(fd);
}

static int find_all(int root, const struct jdoc *list, bool masks, struct container_place **ret)
{
	size_t n = container_list_len(list);

	*ret = calloc(n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *path = list->items[i]->type == JDOC_STRING ? list->items[i]->string : NULL;

		if (!path)
			(*ret)[i].err = EINVAL;
		else if (masks)
			find_mask(root, path, &(*ret)[i]);
		else
			find_place(root, path, 0, &(*ret)[i]);
	}
	return 0;
}

static int find_targets(int root, const struct container_asked *a, struct container_facts *x)
{
	size_t n = container_list_len(a->mounts);

	x->targets = calloc(n + 1, sizeof(*x->targets));
	if (!x->targets)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *path = container_asked_target(a, i);

		if (path)
			find_place(root, path, 0, &x->targets[i]);
		else
			x->targets[i].err = EINVAL;
	}
	return 0;
}

/* ".." of the kernel, from mount to mount: it stays where it is at the top of a tree that is not the container's. */
static bool is_below(int fd, const struct container_place *root)
{
	_cleanup_close_ int at = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	for (int level = 0; at >= 0 && level < LEVELS_MAX; level++) {
		struct container_place p = { 0 };
		int up;

		describe(at, &p);
		if (p.err)
			return false;
		if (p.mount == root->mount && p.ino == root->ino && p.dev == root->dev)
			return true;
		up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		(void)close(at);
		at = up;
	}
	return false;
}

static void read_cwd(int procfd, int root, const struct container_asked *a, struct container_facts *x)
{
	_cleanup_close_ int fd = openat(procfd, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		x->cwd.err = errno;
		return;
	}
	describe(fd, &x->cwd);
	x->cwd_below = is_below(fd, &x->root);
	find_place(root, a->cwd, 0, &x->asked_cwd);
	if (a->worktree)
		find_place(root, a->worktree, 0, &x->worktree);
	else
		x->worktree = x->asked_cwd;
}

static int add_device(struct container_facts *x, int dir, const char *name)
{
	struct container_device *more;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return -errno;
	if (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode))
		return 0;
	more = x->n_devices < DEVICES_MAX ? reallocarray(x->devices, x->n_devices + 1, sizeof(*more)) : NULL;
	if (!more)
		return -ENOMEM;
	x->devices = more;
	more[x->n_devices] = (struct container_device){ .name = strdup(name),
							.type = st.st_mode & S_IFMT,
							.number = st.st_rdev };
	return more[x->n_devices++].name ? 0 : -ENOMEM;
}

static int read_devices(int root, struct container_facts *x)
{
	_cleanup_close_ int fd =
		path_open_in_root(root, "/dev", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, NULL);
	_cleanup_dir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int r = 0;

	if (!d) {
		x->devices_err = fd < 0 ? -fd : errno;
		return 0;
	}
	(void)fd_take(&fd);
	errno = 0;
	while (r == 0 && (e = readdir(d)))
		r = add_device(x, dirfd(d), e->d_name);
	x->devices_err = r < 0 ? -r : errno;
	return r == -ENOMEM ? r : 0;
}

/* -ENOMEM only. */
static int read_list(int procfd, struct container_facts *x)
{
	_cleanup_free_ char *text = NULL;
	int r = container_facts_read_text(procfd, "mountinfo", &text);

	if (r == 0)
		r = container_mounts_parse(text, x);
	x->mounts_err = -r;
	return r == -ENOMEM ? r : 0;
}

int container_facts_read_mounts(int procfd, const struct container_asked *a, struct container_facts *x)
{
	_cleanup_close_ int root = openat(procfd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = read_list(procfd, x);

	if (root < 0) {
		x->root_err = errno;
		return r;
	}
	describe(root, &x->root);
	x->root_err = x->root.err;
	read_cwd(procfd, root, a, x);
	if (r == 0)
		r = find_all(root, a->masked, true, &x->masked);
	if (r == 0)
		r = find_all(root, a->read_only, false, &x->read_only);
	if (r == 0)
		r = find_targets(root, a, x);
	return r < 0 ? r : read_devices(root, x);
}
