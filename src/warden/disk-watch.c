/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/disk-watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "base/userns.h"

#define TICKS_MAX 20
#define ENTRY_BYTES UINT64_C(4096)

struct disk_walk {
	dev_t dev; /* of the upper: no link is followed, no mount crossed */
	/* A directory without permissions is unreadable for its owner as well, if that is not root. */
	bool denied;
};

static int open_below(struct disk_walk *w, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	w->denied |= fd < 0 && errno == EACCES;
	return fd;
}

static uint64_t measure(struct disk_walk *w, int fd, uint64_t max, unsigned int depth)
{
	_cleanup_dir_ DIR *d = fdopendir(fd);
	const struct dirent *e;
	uint64_t sum = 0;

	if (!d) {
		(void)fd_close(fd);
		return 0;
	}
	while (sum <= max && (e = readdir(d))) {
		uint64_t bytes, below;
		struct stat st;
		int sub;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			w->denied |= errno == EACCES;
			continue;
		}
		if (st.st_dev != w->dev)
			continue;
		/* An empty file takes an inode, of which a file system has about one for each 16 KiB. */
		bytes = (uint64_t)st.st_blocks * 512;
		sum += bytes > ENTRY_BYTES ? bytes : ENTRY_BYTES;
		if (!S_ISDIR(st.st_mode))
			continue;
		/* Too deep: counts as over the limit, or a chain of directories would hide the rest. */
		if (depth == 0)
			return DISK_TOO_DEEP;
		sub = open_below(w, dirfd(d), e->d_name);
		below = sub >= 0 ? measure(w, sub, max - (sum > max ? max : sum), depth - 1) : 0;
		if (below == DISK_TOO_DEEP)
			return DISK_TOO_DEEP;
		sum += below;
	}
	return sum;
}

static uint64_t walk(struct disk_walk *w, const char *dir, uint64_t max)
{
	struct stat st;
	int fd;

	if (lstat(dir, &st) < 0)
		return 0;
	w->dev = st.st_dev;
	fd = open_below(w, AT_FDCWD, dir);
	return fd < 0 ? 0 : measure(w, fd, max, DISK_DEPTH_MAX);
}

/* Directories that the payload made unreadable are counted in a user namespace, by a child that does not return. */
static uint64_t walk_inside(const char *dir, uint64_t max)
{
	uint64_t sum = 0;
	int fd[2];
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		struct disk_walk w = { 0 };

		if (userns_enter(NULL) < 0)
			_exit(1);
		sum = walk(&w, dir, max);
		_exit(write(fd[1], &sum, sizeof(sum)) == sizeof(sum) ? 0 : 1);
	}
	(void)fd_close(fd[1]);
	if (pid < 0 || read(fd[0], &sum, sizeof(sum)) != sizeof(sum))
		sum = 0;
	(void)fd_close(fd[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return sum;
}

uint64_t disk_measure(const char *dir, uint64_t max)
{
	struct disk_walk w = { 0 };
	uint64_t sum = walk(&w, dir, max), inside = w.denied ? walk_inside(dir, max) : 0;

	return inside > sum ? inside : sum;
}

static void read_free(const char *dir, uint64_t *ret_bytes, uint64_t *ret_files)
{
	struct statvfs fs = { 0 };

	if (statvfs(dir, &fs) < 0)
		fs = (struct statvfs){ 0 };
	*ret_bytes = (uint64_t)fs.f_bfree * fs.f_frsize;
	*ret_files = (uint64_t)fs.f_ffree * ENTRY_BYTES;
}

void disk_watch_init(struct disk_watch *w, const char *dir, uint64_t limit, pid_t init)
{
	*w = (struct disk_watch){ .dir = limit ? dir : NULL, .limit = limit, .init = init };
	if (!w->dir)
		return;
	read_free(w->dir, &w->free_at_walk, &w->files_at_walk);
	w->free_at_start = w->free_at_walk;
}

/* Has the free space changed, and by how much? */
static bool is_due(struct disk_watch *w, uint64_t bytes, uint64_t files, bool final)
{
	uint64_t room = w->limit - (w->size_at_walk > w->limit ? w->limit : w->size_at_walk);

	w->ticks++;
	/*
	 * Half of the remaining space: the upper cannot pass its limit unnoticed unless another process frees as much
	 * as it writes; for that case it is walked periodically whenever the number changed.
	 */
	if (final || bytes + room / 2 <= w->free_at_walk || files + room / 2 <= w->files_at_walk)
		return true;
	return (bytes != w->free_at_walk || files != w->files_at_walk) && w->ticks >= TICKS_MAX;
}

bool disk_watch_exceeds(struct disk_watch *w, bool final)
{
	uint64_t bytes, files, gone;

	if (!w->dir)
		return false;
	read_free(w->dir, &bytes, &files);
	if (!is_due(w, bytes, files, final))
		return false;
	w->size_at_walk = disk_measure(w->dir, w->limit);
	if (w->also && w->size_at_walk <= w->limit) {
		uint64_t also = disk_measure(w->also, w->limit);

		w->size_at_walk = also == DISK_TOO_DEEP ? also : w->size_at_walk + also;
	}
	gone = bytes < w->free_at_start ? w->free_at_start - bytes : 0;
	/* More space is used than names explain: other processes' files, or unlinked open files. */
	if (!final && w->size_at_walk <= w->limit && gone > w->size_at_walk && gone > w->limit / 2)
		w->size_at_walk += disk_measure_nameless(w->init);
	w->free_at_walk = bytes;
	w->files_at_walk = files;
	w->ticks = 0;
	return w->size_at_walk > w->limit;
}
