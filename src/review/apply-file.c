/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"
#include "review/apply-impl.h"

#define BUFFER ((size_t)256 * 1024)
#define ACL_NAME "system.posix_acl_access"

static int copy_piece(int in, int out, off_t from, off_t to, char *buffer, struct fault *f)
{
	while (from < to) {
		size_t step = to - from < (off_t)BUFFER ? (size_t)(to - from) : BUFFER;
		ssize_t n = pread(in, buffer, step, from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_errno(f, errno, "read");
		if (n == 0)
			return fault_set(f, EIO, "file became shorter while it was read");
		for (ssize_t done = 0; done < n;) {
			ssize_t m = pwrite(out, buffer + done, (size_t)(n - done), from + done);

			if (m < 0 && errno == EINTR)
				continue;
			if (m <= 0)
				return fault_errno(f, m < 0 ? errno : EIO, "write");
			done += m;
		}
		from += n;
	}
	return 0;
}

/* Shares the blocks.  A file system that cannot do it is asked once. */
static bool clone(struct apply *a, int in, int out)
{
	if (a->no_clone)
		return false;
	if (ioctl(out, FICLONE, in) == 0)
		return true;
	a->no_clone = errno == EOPNOTSUPP || errno == EXDEV || errno == ENOTTY;
	return false;
}

/* Holes are kept: a copy of a sparse terabyte without them would fill the disk. */
static int copy_data(struct apply *a, int in, int out, const struct stat *st, struct fault *f)
{
	const off_t size = st->st_size;
	int r = 0;

	if (!size || clone(a, in, out))
		return 0;
	if (!a->buffer)
		a->buffer = malloc(BUFFER);
	if (!a->buffer)
		return fault_errno(f, ENOMEM, "copy");
	/* Most files are small and have no holes. */
	if (st->st_blocks >= size / 512)
		return copy_piece(in, out, 0, size, a->buffer, f);
	if (ftruncate(out, size) < 0)
		return fault_errno(f, errno, "set the size to %lld bytes", (long long)size);
	for (off_t at = 0; at < size && r == 0;) {
		off_t data = lseek(in, at, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			break;
		hole = data < 0 ? size : lseek(in, data, SEEK_HOLE);
		if (data < 0)
			data = at;
		if (hole < 0 || hole > size)
			hole = size;
		r = copy_piece(in, out, data, hole, a->buffer, f);
		at = hole;
	}
	return r;
}

/* The access list of the old file stays: the copy in the upper has the ids of the session. */
static int keep_list(const struct change *ch, const struct apply_place *p, int out, struct fault *f)
{
	_cleanup_free_ char *value = NULL;
	_cleanup_close_ int old = -EBADF;
	char path[48 + NAME_MAX];
	ssize_t n;

	if (!S_ISREG(ch->old.mode))
		return 0;
	/* Most files have none. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", p->dirfd, p->name);
	if (lgetxattr(path, ACL_NAME, NULL, 0) < 0 && (errno == ENODATA || errno == EOPNOTSUPP))
		return 0;
	old = openat(p->dirfd, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (old < 0)
		return fault_errno(f, errno, "open the old file");
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", old);
	n = getxattr(path, ACL_NAME, NULL, 0);
	if (n <= 0)
		return 0;
	value = malloc((size_t)n);
	if (!value)
		return fault_errno(f, ENOMEM, "access list");
	n = getxattr(path, ACL_NAME, value, (size_t)n);
	if (n < 0 || fsetxattr(out, ACL_NAME, value, (size_t)n, 0) < 0)
		return fault_errno(f, errno, "copy the old file's access list");
	return 0;
}

static bool is_time(const struct stat *st, const struct change_side *s)
{
	return st->st_mtim.tv_sec == s->mtime.tv_sec && st->st_mtim.tv_nsec == s->mtime.tv_nsec;
}

static int open_source(struct apply *a, const struct change *ch, struct stat *ret, struct fault *f)
{
	_cleanup_close_ int fd = apply_take_source(a, ch);
	struct stat st;

	if (fd == -ENOENT)
		fd = ch->data ? tree_at_open(&a->base, ch->data) : tree_at_open_known(&a->upper, ch->path);
	if (fd < 0)
		return fault_errno(f, -fd, "open the new content");
	if (fstat(fd, &st) < 0)
		return fault_errno(f, errno, "stat the new content");
	if ((uint64_t)st.st_size != ch->new.size || st.st_ino != (ch->data ? ch->data_ino : ch->new.ino) ||
	    (!ch->data && !is_time(&st, &ch->new)))
		return fault_set(f, ESTALE, "new content was changed since it was reviewed");
	*ret = st;
	return TAKE_FD(fd);
}

/* A new file has none, and neither has the upper's if they do not differ from those of no file. */
static bool needs_attributes(const struct change *ch)
{
	return ch->attributes || (ch->kind == CHANGE_MODIFIED && !ch->bare);
}

/* Only where it differs: each of the two calls is a transaction of the file system's journal.  NOW: the file as it was made. */
static int set_owner(struct apply *a, const struct change *ch, int out, const struct stat *now,
		     struct fault *f)
{
	if (!a->ask->as_root || (now->st_uid == ch->new.uid && now->st_gid == ch->new.gid))
		return 0;
	return fchown(out, ch->new.uid, ch->new.gid) < 0
		       ? fault_errno(f, errno, "chown to uid %u", (unsigned int)ch->new.uid)
		       : 0;
}

/* An access list that keep_list has set changes the mode. */
static int set_mode(const struct change *ch, int out, const struct stat *now, struct fault *f)
{
	const mode_t mode = ch->new.mode & 01777;

	if (!S_ISREG(ch->old.mode) && (now->st_mode & 07777) == mode)
		return 0;
	return fchmod(out, mode) < 0 ? fault_errno(f, errno, "set the mode") : 0;
}

static int fill(struct apply *a, const struct change *ch, const struct apply_place *p, int in,
		const struct stat *st, int out, struct fault *f)
{
	int r = copy_data(a, in, out, st, f);
	struct stat now;

	if (r == 0 && needs_attributes(ch))
		r = apply_attributes(a, ch, in, out, f);
	if (r == 0 && fstat(out, &now) < 0)
		r = fault_errno(f, errno, "stat the new file");
	if (r < 0)
		return r;
	r = set_owner(a, ch, out, &now, f);
	if (r == 0)
		r = keep_list(ch, p, out, f);
	if (r == 0)
		r = set_mode(ch, out, &now, f);
	if (r < 0)
		return r;
	return a->sync_each && fsync(out) < 0 ? fault_errno(f, errno, "sync") : 0;
}

/*
 * In a new directory the final one at once, without what the umask takes, if the file has its owner from the start: its bits give
 * no user more than they will.  Elsewhere it is private until its content, owner and access list are set.
 */
static mode_t first_mode(const struct apply *a, const struct change *ch)
{
	if (!a->top || (a->ask->as_root && (ch->new.uid != 0 || ch->new.gid != a->gid)))
		return 0600;
	return ch->new.mode & 0777;
}

int apply_write(struct apply *a, const struct change *ch, const struct apply_place *p, struct fault *f)
{
	_cleanup_close_ int in = -EBADF, out = -EBADF, dir = -EBADF;
	struct apply_place own = *p;
	struct stat st = { 0 };
	int r;

	/* The source may be in the base too: opening it closes the directory of PLACE (struct tree_at holds one path). */
	if (ch->data) {
		dir = openat(p->dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return fault_errno(f, errno, "open the parent directory");
		own.dirfd = dir;
	}
	in = open_source(a, ch, &st, f);
	if (in < 0)
		return in;
	out = openat(own.dirfd, p->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		     first_mode(a, ch));
	if (out < 0)
		return fault_errno(f, errno, "create '%s'", p->temp);
	r = fill(a, ch, &own, in, &st, out, f);
	if (r < 0)
		(void)unlinkat(own.dirfd, p->temp, 0);
	return r;
}
