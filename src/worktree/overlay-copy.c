/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worktree/overlay-copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

#define MARKS "user.overlay."
#define MARKS_OF_PAYLOAD \
	"user.overlay.overlay." /* how overlayfs stores what a payload sets as user.overlay.* */
#define ATTRS_MAX 65536		/* bytes of names, and of one value: the kernel's own limits */

/* Attributes of users and programs, and access lists; marks of overlayfs are set apart. */
static bool is_copied(const char *name)
{
	if (str_starts(name, MARKS))
		return str_starts(name, MARKS_OF_PAYLOAD);
	return str_starts(name, "user.") || str_starts(name, "system.posix_acl_");
}

static int copy_attr(int from, int to, const char *name, char *value, struct fault *f)
{
	ssize_t n = fgetxattr(from, name, value, ATTRS_MAX);

	if (n < 0 && errno == ENODATA)
		return 0;
	if (n < 0 || fsetxattr(to, name, value, (size_t)n, 0) < 0)
		return fault_errno(f, errno, "attribute '%s'", name);
	return 0;
}

/* Calls ACT for each attribute of FD that is copied. */
static int each_attr(int fd, int (*act)(int from, int to, const char *name, char *value, struct fault *f),
		     int other, struct fault *f)
{
	_cleanup_free_ char *names = malloc(ATTRS_MAX), *value = malloc(ATTRS_MAX);
	ssize_t n;
	int r = 0;

	if (!names || !value)
		return fault_errno(f, ENOMEM, "attributes");
	n = flistxattr(fd, names, ATTRS_MAX);
	if (n < 0)
		return errno == EOPNOTSUPP ? 0 : fault_errno(f, errno, "attributes");
	for (const char *name = names; r == 0 && name < names + n; name += strlen(name) + 1)
		if (is_copied(name))
			r = act(fd, other, name, value, f);
	return r;
}

static int remove_attr(int fd, int unused, const char *name, char *value, struct fault *f)
{
	(void)unused;
	(void)value;
	return fremovexattr(fd, name) < 0 && errno != ENODATA
		       ? fault_errno(f, errno, "remove attribute '%s'", name)
		       : 0;
}

int overlay_copy_clear(int fd, struct fault *f)
{
	return each_attr(fd, remove_attr, -EBADF, f);
}

int overlay_copy_metadata(int from, int to, struct fault *f)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };
	struct stat st;
	int r = each_attr(from, copy_attr, to, f);

	if (r < 0)
		return r;
	if (fstat(from, &st) < 0)
		return fault_errno(f, errno, "stat");
	times[1] = st.st_mtim;
	if ((geteuid() == 0 && fchown(to, st.st_uid, st.st_gid) < 0) || fchmod(to, st.st_mode & 07777) < 0 ||
	    futimens(to, times) < 0)
		return fault_errno(f, errno, "set attributes");
	return 0;
}

/* --- entries --------------------------------------------------------------------------------------------------------- */

/* A file of several names that was copied: all of them are on one file system. */
struct copy {
	uint64_t inode;
	char *path; /* in the tree of copies */
};

static int by_inode(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static void copy_free(void *p)
{
	struct copy *c = p;

	free(c->path);
	free(c);
}

void overlay_copy_forget(void **copies)
{
	tdestroy(*copies, copy_free);
	*copies = NULL;
}

static struct copy *find_copy(void **copies, const struct walk_entry *e)
{
	const struct copy key = { .inode = e->stx.stx_ino };
	struct copy **found = tfind(&key, copies, by_inode);

	return found ? *found : NULL;
}

static int note_copy(void **copies, const struct walk_entry *e, struct fault *f)
{
	struct copy *c = find_copy(copies, e);
	char *path = strdup(e->path);

	if (path && !c) {
		c = calloc(1, sizeof(*c));
		if (c) {
			c->inode = e->stx.stx_ino;
			if (!tsearch(c, copies, by_inode)) {
				free(c);
				c = NULL;
			}
		}
	}
	if (!path || !c) {
		free(path);
		return fault_errno(f, ENOMEM, "copy");
	}
	free(c->path);
	c->path = path;
	return 0;
}

/* Another name of the copy that exists.  False: no copy exists, or it has too many names itself. */
static bool link_copy(void **copies, struct tree_at *out, const struct walk_entry *e)
{
	const struct copy *c = e->stx.stx_nlink > 1 ? find_copy(copies, e) : NULL;
	_cleanup_close_ int fd = c ? tree_at_entry(out, c->path) : -EBADF;
	char link[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	const char *name;
	int dirfd;

	if (fd < 0 || tree_at_parent(out, e->path, &dirfd, &name) < 0)
		return false;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, dirfd, name, AT_SYMLINK_FOLLOW) == 0;
}

static int copy_piece(int from, int to, off_t at, off_t end, struct fault *f)
{
	off_t in = at, out = at;
	ssize_t n = 1;

	/* 0: it was cut. */
	while (in < end && n > 0) {
		n = copy_file_range(from, &in, to, &out, (size_t)(end - in), 0);
		if (n < 0)
			return fault_errno(f, errno, "copy");
	}
	return 0;
}

/* Holes stay holes: a payload makes them of any size. */
static int copy_bytes(int from, int to, struct fault *f)
{
	struct stat st;
	int r = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	if (fstat(from, &st) < 0 || ftruncate(to, st.st_size) < 0)
		return fault_errno(f, errno, "set the size");
	for (off_t at = 0; r == 0 && at < st.st_size;) {
		off_t data = lseek(from, at, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			break;
		hole = data < 0 ? st.st_size : lseek(from, data, SEEK_HOLE);
		if (hole < 0 || hole > st.st_size)
			hole = st.st_size;
		r = copy_piece(from, to, data < 0 ? at : data, hole, f);
		at = hole;
	}
	return r;
}

/* 0 also if it is gone. */
static int copy_file(const struct walk_entry *e, int dirfd, struct fault *f)
{
	_cleanup_close_ int from = tree_open_file(e->dirfd, e->name), to = -EBADF;
	int r;

	if (from == -ENOENT)
		return 0;
	if (from < 0)
		return fault_errno(f, -from, "open");
	to = openat(dirfd, e->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return fault_errno(f, errno, "create");
	r = copy_bytes(from, to, f);
	return r < 0 ? r : overlay_copy_metadata(from, to, f);
}

static int copy_special(const struct walk_entry *e, int dirfd, struct fault *f)
{
	_cleanup_free_ char *text = NULL;
	int r = S_ISLNK(e->stx.stx_mode) ? tree_readlink(e->dirfd, e->name, &text) : 0;

	if (r < 0)
		return fault_errno(f, -r, "read the link");
	r = text ? symlinkat(text, dirfd, e->name) : mknodat(dirfd, e->name, e->stx.stx_mode, 0);
	if (r == 0 && geteuid() == 0)
		r = fchownat(dirfd, e->name, e->stx.stx_uid, e->stx.stx_gid, AT_SYMLINK_NOFOLLOW);
	/* Not by mknodat: the umask. */
	if (r == 0 && !text)
		r = fchmodat(dirfd, e->name, e->stx.stx_mode & 07777, 0);
	return r < 0 ? fault_errno(f, errno, "create") : 0;
}

int overlay_copy_entry(void **copies, struct tree_at *out, const struct walk_entry *e, struct fault *f)
{
	const char *name;
	int dirfd, r;

	if (link_copy(copies, out, e))
		return 0;
	r = tree_at_parent(out, e->path, &dirfd, &name);
	if (r < 0)
		return fault_errno(f, -r, "'%s' in the copy", e->path);
	r = S_ISREG(e->stx.stx_mode) ? copy_file(e, dirfd, f) : copy_special(e, dirfd, f);
	if (r == 0 && e->stx.stx_nlink > 1)
		r = note_copy(copies, e, f);
	return fault_wrap(f, r, "copy '%s'", e->path);
}
