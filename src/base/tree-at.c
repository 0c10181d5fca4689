/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/tree-at.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

#define STX_WANTED (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)
#define LINK_MAX_TEXT 65536

static int look(int dirfd, const char *name, struct statx *ret)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);

	return statx(dirfd, name, flags, STX_WANTED, ret) < 0 ? -errno : 0;
}

int tree_at_init(struct tree_at *t, int rootfd, struct fault *f)
{
	struct statx stx;
	int r = look(rootfd, "", &stx);

	if (r < 0)
		return fault_errno(f, -r, "stat the tree's root");
	*t = (struct tree_at){ .root = rootfd, .mount = stx.stx_mnt_id, .fd = -EBADF };
	return 0;
}

void tree_at_forget(struct tree_at *t)
{
	free(t->dir);
	t->dir = NULL;
	t->fd = fd_close(t->fd);
}

void tree_at_done(struct tree_at *t)
{
	tree_at_forget(t);
}

/* NAME is one component of a path, LEN bytes. */
static int step(const struct tree_at *t, int dirfd, const char *name, size_t len)
{
	_cleanup_close_ int fd = -EBADF;
	char part[NAME_MAX + 1];
	struct statx stx;
	int r;

	if (len == 0 || (len == 2 && memcmp(name, "..", 2) == 0))
		return -EINVAL;
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(part, name, len);
	part[len] = '\0';
	fd = openat(dirfd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP ? -ENOTDIR : -errno;
	r = look(fd, "", &stx);
	if (r < 0)
		return r;
	return stx.stx_mnt_id == t->mount ? TAKE_FD(fd) : -EXDEV;
}

static int open_dir(struct tree_at *t, const char *path, size_t len)
{
	_cleanup_close_ int fd = openat(t->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (size_t at = 0; at < len;) {
		size_t n = strcspn(path + at, "/");
		int next;

		if (n > len - at)
			n = len - at;
		next = step(t, fd, path + at, n);
		if (next < 0)
			return next;
		fd_close(fd);
		fd = next;
		at += n + 1;
	}
	return TAKE_FD(fd);
}

static int go(struct tree_at *t, const char *path, size_t len, int *ret)
{
	int fd;

	if (!t->dir || strlen(t->dir) != len || memcmp(t->dir, path, len) != 0) {
		tree_at_forget(t);
		fd = open_dir(t, path, len);
		if (fd < 0)
			return fd;
		t->fd = fd;
		t->dir = strndup(path, len);
		if (!t->dir)
			return -ENOMEM;
	}
	*ret = t->fd;
	return 0;
}

int tree_at_dir(struct tree_at *t, const char *path, int *ret)
{
	return go(t, path, strlen(path), ret);
}

int tree_at_parent(struct tree_at *t, const char *path, int *ret, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	if (!*name || strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
		return -EINVAL;
	*ret_name = name;
	return go(t, path, slash ? (size_t)(slash - path) : 0, ret);
}

int tree_at_stat(struct tree_at *t, const char *path, struct statx *ret)
{
	const char *name = "";
	int fd = t->root, r = 0;

	if (*path)
		r = tree_at_parent(t, path, &fd, &name);
	if (r == 0)
		r = look(fd, name, ret);
	if (r == 0 && ret->stx_mnt_id != t->mount)
		r = -EXDEV;
	return r;
}

int tree_at_entry(struct tree_at *t, const char *path)
{
	const char *name = ".";
	int dir = t->root, r = *path ? tree_at_parent(t, path, &dir, &name) : 0, fd;

	if (r < 0)
		return r;
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_name(int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = openat(dirfd, name, flags | O_NOATIME);

	if (fd < 0 && errno == EPERM)
		fd = openat(dirfd, name, flags);
	return fd >= 0 ? fd : errno == ELOOP || errno == ENXIO ? -EINVAL : -errno;
}

int tree_open_file(int dirfd, const char *name)
{
	_cleanup_close_ int fd = open_name(dirfd, name);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? TAKE_FD(fd) : -EINVAL;
}

int tree_at_open(struct tree_at *t, const char *path)
{
	const char *name = NULL;
	struct statx stx;
	int fd = -EBADF, r = tree_at_stat(t, path, &stx);

	/* Opening a device can have side effects: checked before. */
	if (r == 0 && !S_ISREG(stx.stx_mode))
		r = -EINVAL;
	if (r == 0)
		r = tree_at_parent(t, path, &fd, &name);
	return r < 0 ? r : tree_open_file(fd, name);
}

int tree_at_open_known(struct tree_at *t, const char *path)
{
	_cleanup_close_ int fd = -EBADF;
	const char *name;
	struct statx stx;
	int dir, r = tree_at_parent(t, path, &dir, &name);

	if (r < 0)
		return r;
	fd = open_name(dir, name);
	if (fd < 0)
		return fd;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &stx) < 0)
		return -errno;
	if (stx.stx_mnt_id != t->mount)
		return -EXDEV;
	return S_ISREG(stx.stx_mode) ? TAKE_FD(fd) : -EINVAL;
}

int tree_readlink(int dirfd, const char *name, char **ret)
{
	for (size_t room = 256; room <= LINK_MAX_TEXT; room *= 4) {
		_cleanup_free_ char *text = malloc(room);
		ssize_t n;

		if (!text)
			return -ENOMEM;
		n = readlinkat(dirfd, name, text, room);
		if (n < 0)
			return -errno;
		if ((size_t)n < room) {
			text[n] = '\0';
			*ret = TAKE_PTR(text);
			return 0;
		}
	}
	return -ENAMETOOLONG;
}

int tree_at_readlink(struct tree_at *t, const char *path, char **ret)
{
	const char *name;
	int fd, r = tree_at_parent(t, path, &fd, &name);

	return r < 0 ? r : tree_readlink(fd, name, ret);
}
