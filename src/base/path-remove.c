/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

/*
 * Removes an untrusted tree that may change concurrently.
 *
 * 1. Names are used one at a time, relative to a descriptor, and MUST NOT be followed if they are links.
 * 2. A directory is entered only if it is on the mount that the tree's parent is on.
 * 3. Going up uses a kept descriptor, or "..", which must be the directory that was left.
 * 4. A directory of another user than the given owner is not entered.
 * 5. No recursion, and about HELD_MAX descriptors however deep the tree is.
 */
#define HELD_MAX 32
#define AGAIN_MAX 1000 /* retries while another process writes to a directory */
#define SHOWN_MAX 16   /* components of a path in a message */

struct level {
	char *name;
	DIR *dir; /* NULL beyond HELD_MAX while a deeper level is processed */
	dev_t dev;
	ino_t ino;
};

struct removal {
	int dirfd;
	struct level *levels;
	size_t n, room;
	dev_t dev;
	uint64_t mount;
	bool has_owner;
	uid_t owner;
	unsigned int again;
	struct fault *f;
};

static void release(struct level *l)
{
	if (l->dir)
		(void)closedir(l->dir);
	l->dir = NULL;
}

static void removal_done(struct removal *rm)
{
	for (size_t i = 0; i < rm->n; i++) {
		release(rm->levels + i);
		free(rm->levels[i].name);
	}
	free(rm->levels);
}

/* Error CODE, or TEXT instead, for LEAF in the current directory. */
static int failed(const struct removal *rm, const char *leaf, int code, const char *what)
{
	_cleanup_strbuf_ struct strbuf path = { 0 };

	for (size_t i = 0; i < rm->n && i < SHOWN_MAX; i++)
		strbuf_printf(&path, "%s/", rm->levels[i].name);
	if (rm->n > SHOWN_MAX)
		strbuf_puts(&path, ".../");
	strbuf_puts(&path, leaf);
	return fault_set(rm->f, code, "remove '%s': %s", path.broken ? leaf : path.text,
			 what ? what : strerror(code));
}

/* Device and, since Linux 5.8, mount id: a bind mount has the device of its source. */
static int identify(int fd, struct stat *ret_st, uint64_t *ret_mount)
{
	*ret_mount = 0;
	if (fstatat(fd, "", ret_st, AT_EMPTY_PATH) < 0)
		return -errno;
#ifdef STATX_MNT_ID
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) == 0 && (stx.stx_mask & STATX_MNT_ID))
		*ret_mount = stx.stx_mnt_id;
#endif
	return 0;
}

static int check_mount(const struct removal *rm, int fd, const char *name, struct stat *ret_st)
{
	uint64_t mount;
	int r;

	r = identify(fd, ret_st, &mount);
	if (r < 0)
		return failed(rm, name, -r, NULL);
	if (ret_st->st_dev != rm->dev || mount != rm->mount)
		return failed(rm, name, EBUSY, "it is a mount point: unmount it first");
	return 0;
}

/* Adds owner permissions to our own directory. FD may be O_PATH, so chmod goes through its magic link. */
static int let_in(int fd, const struct stat *st)
{
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	if (st->st_uid != geteuid() || (st->st_mode & S_IRWXU) == S_IRWXU)
		return -EACCES;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return chmod(link, (st->st_mode & 07777) | S_IRWXU) < 0 ? -errno : 0;
}

/*
 * Overlayfs leaves work/work with mode 000. The mode of a mount must not be changed: check for a mount first.
 */
static int open_shut(const struct removal *rm, int parent, const char *name)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int opened, r;

	fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return failed(rm, name, errno, NULL);
	r = check_mount(rm, fd, name, &st);
	if (r < 0)
		return r;
	r = let_in(fd, &st);
	if (r < 0)
		return failed(rm, name, -r, NULL);
	opened = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return opened < 0 ? failed(rm, name, errno, NULL) : opened;
}

static int open_dir(const struct removal *rm, int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == EACCES ? open_shut(rm, parent, name) : failed(rm, name, errno, NULL);
}

static bool make_room(struct removal *rm)
{
	size_t room = rm->room ? rm->room * 2 : 16;
	struct level *grown;

	if (rm->n < rm->room)
		return true;
	grown = reallocarray(rm->levels, room, sizeof(*grown));
	if (!grown)
		return false;
	rm->levels = grown;
	rm->room = room;
	return true;
}

static int push(struct removal *rm, int parent, const char *name)
{
	_cleanup_free_ char *copy = strdup(name);
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	DIR *dir;
	int r;

	if (!copy || !make_room(rm))
		return failed(rm, name, ENOMEM, NULL);
	fd = open_dir(rm, parent, name);
	if (fd < 0)
		return fd;
	r = check_mount(rm, fd, name, &st);
	if (r < 0)
		return r;
	if (rm->has_owner && st.st_uid != rm->owner)
		return failed(rm, name, EPERM, "it belongs to another user and is not empty");
	dir = fdopendir(fd);
	if (!dir)
		return failed(rm, name, errno, NULL);
	(void)TAKE_FD(fd);
	if (rm->n > HELD_MAX)
		release(rm->levels + rm->n - 1);
	rm->levels[rm->n++] = (struct level){
		.name = TAKE_PTR(copy),
		.dir = dir,
		.dev = st.st_dev,
		.ino = st.st_ino,
	};
	return 0;
}

static int unlink_at(int parent, const char *name, int flags)
{
	return unlinkat(parent, name, flags) < 0 ? -errno : 0;
}

/* The same in a directory of the tree, whose mode may forbid it. */
static int unlink_inside(int parent, const char *name, int flags)
{
	struct stat st;
	int r;

	r = unlink_at(parent, name, flags);
	if (r != -EACCES)
		return r;
	if (fstat(parent, &st) < 0 || let_in(parent, &st) < 0)
		return r;
	return unlink_at(parent, name, flags);
}

/* Removes NAME from PARENT, or enters it if it is a non-empty directory. */
static int remove_or_enter(struct removal *rm, int parent, const char *name)
{
	int r;

	/* The caller's directory is not part of the tree: its mode stays. */
	r = rm->n ? unlink_inside(parent, name, 0) : unlink_at(parent, name, 0);
	if (r == -EISDIR)
		r = unlink_at(parent, name, AT_REMOVEDIR);
	if (r == 0 || r == -ENOENT)
		return 0;
	if (r == -ENOTEMPTY || r == -EEXIST)
		return push(rm, parent, name);
	return failed(rm, name, -r, r == -EBUSY ? "it is a mount point: unmount it first" : NULL);
}

/* If the parent's descriptor was released, ".." must be the same directory. */
static int reopen_parent(struct removal *rm)
{
	struct level *top = rm->levels + rm->n - 1, *parent = top - 1;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (rm->n == 1 || parent->dir)
		return 0;
	fd = openat(dirfd(top->dir), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return failed(rm, "..", errno, NULL);
	if (st.st_dev != parent->dev || st.st_ino != parent->ino)
		return failed(rm, "", EBUSY, "it was moved while it was being removed");
	parent->dir = fdopendir(fd);
	if (!parent->dir)
		return failed(rm, "..", errno, NULL);
	(void)TAKE_FD(fd);
	return 0;
}

/* The current directory seems empty: removes it and goes up. */
static int pop(struct removal *rm)
{
	struct level *top = rm->levels + rm->n - 1;
	int r;

	r = reopen_parent(rm);
	if (r < 0)
		return r;
	if (rm->n == 1)
		r = unlink_at(rm->dirfd, top->name, AT_REMOVEDIR);
	else
		r = unlink_inside(dirfd(top[-1].dir), top->name, AT_REMOVEDIR);
	if (r == -ENOTEMPTY || r == -EEXIST) {
		if (++rm->again > AGAIN_MAX)
			return failed(rm, "", EBUSY, "another process keeps writing to it");
		rewinddir(top->dir);
		return 0;
	}
	if (r < 0 && r != -ENOENT)
		return failed(rm, "", -r, NULL);
	release(top);
	free(top->name);
	rm->n--;
	return 0;
}

static int run(struct removal *rm, const char *name)
{
	int r;

	r = remove_or_enter(rm, rm->dirfd, name);
	while (r == 0 && rm->n > 0) {
		const struct level *top = rm->levels + rm->n - 1;
		const struct dirent *entry;

		errno = 0;
		entry = readdir(top->dir);
		if (!entry)
			r = errno ? failed(rm, "", errno, NULL) : pop(rm);
		else if (!str_eq(entry->d_name, ".") && !str_eq(entry->d_name, ".."))
			r = remove_or_enter(rm, dirfd(top->dir), entry->d_name);
	}
	return r;
}

static int remove_tree(struct removal *rm, const char *name)
{
	struct fault *f = rm->f;
	struct stat st;
	int r;

	if (!*name || strchr(name, '/') || str_eq(name, ".") || str_eq(name, ".."))
		return fault_set(f, EINVAL, "remove '%s': not a name in a directory", name);
	r = identify(rm->dirfd, &st, &rm->mount);
	if (r < 0)
		return fault_errno(f, -r, "remove '%s'", name);
	rm->dev = st.st_dev;
	r = run(rm, name);
	removal_done(rm);
	return r;
}

int path_remove_tree(int dirfd, const char *name, struct fault *f)
{
	struct removal rm = { .dirfd = dirfd, .f = f };

	return remove_tree(&rm, name);
}

int path_remove_tree_of(int dirfd, const char *name, uid_t owner, struct fault *f)
{
	struct removal rm = { .dirfd = dirfd, .has_owner = true, .owner = owner, .f = f };

	return remove_tree(&rm, name);
}
