/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/capture-share.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"

#define SEEN (STATX_BASIC_STATS | STATX_MNT_ID)

bool capture_share_can_clone(int outfd)
{
	_cleanup_close_ int from = openat(outfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	_cleanup_close_ int to = openat(outfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return from >= 0 && to >= 0 && ioctl(to, FICLONE, from) == 0;
}

static bool is_same_file(const struct statx *a, const struct statx *b)
{
	return a->stx_mode == b->stx_mode && a->stx_size == b->stx_size &&
	       a->stx_mtime.tv_sec == b->stx_mtime.tv_sec && a->stx_mtime.tv_nsec == b->stx_mtime.tv_nsec;
}

/* An entry of the upper hides that of the base: the overlay shows this file under the same path. */
void capture_share_find(const struct capture_target *t, struct capture_job *j)
{
	const struct open_how how = { .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_XDEV };
	_cleanup_close_ int fd = -EBADF;
	struct statx stx;

	j->upper = t->o->upper;
	if (!t->o->share || t->o->upper)
		return;
	fd = (int)syscall(SYS_openat2, t->o->share->upper, j->entry.path, &how, sizeof(how));
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, SEEN, &stx) < 0 || !is_same_file(&stx, &j->seen))
		return;
	(void)fd_close(j->in);
	j->in = TAKE_FD(fd);
	j->seen = stx;
	j->upper = true;
}

/* Evidence has no set-id bits and no capabilities, and its owner can read it. */
static bool is_harmless(const struct capture_job *j)
{
	if ((j->seen.stx_mode & 07000) || !(j->seen.stx_mode & 0400))
		return false;
	for (size_t i = 0; i < j->entry.n_xattrs; i++)
		if (str_eq(j->entry.xattrs[i].name, "security.capability"))
			return false;
	return true;
}

/*
 * A read lease is granted only while no descriptor and no mapping can write the file, through the overlay or not.  It is
 * returned at once; SIGURG, which is ignored by default, in case of an open in between.
 */
static bool has_no_writer(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) < 0 || fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return false;
	return fcntl(fd, F_SETLEASE, F_UNLCK) == 0;
}

/* Completely stored under its own name. */
static bool is_whole(const struct capture_job *j)
{
	return j->dir->fd >= 0 && !j->entry.sparse && !j->cut && j->size > 0 && j->size == j->seen.stx_size;
}

/* By descriptor: the file that was opened, whatever its name is now.  A link changes its ctime. */
static bool link_file(struct capture_target *t, struct capture_job *j)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];
	struct statx stx;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", j->in);
	if (linkat(AT_FDCWD, path, j->dir->fd, j->name, AT_SYMLINK_FOLLOW) < 0) {
		/* Another file system, or one without hard links. */
		if (errno == EXDEV || errno == EOPNOTSUPP)
			t->no_link = true;
		return false;
	}
	j->entry.at = path_join(j->dir->path, j->name);
	if (j->entry.at && statx(j->in, "", AT_EMPTY_PATH, SEEN, &stx) == 0 && is_same_file(&stx, &j->seen)) {
		j->seen = stx;
		return true;
	}
	(void)unlinkat(j->dir->fd, j->name, 0);
	free(j->entry.at);
	j->entry.at = NULL;
	return false;
}

bool capture_share_link(struct capture_target *t, struct capture_job *j)
{
	if (!t->o->share || !j->upper || t->o->pack || !t->no_clone || t->no_link || !is_whole(j) ||
	    !is_harmless(j) || !has_no_writer(j->in) || !link_file(t, j))
		return false;
	j->linked = true;
	j->copy.out = -EBADF;
	j->copy.clone = false;
	j->copy.direct = NULL;
	return true;
}
