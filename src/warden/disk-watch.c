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

#include "base/clock.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/userns.h"
#include "warden/inode-set.h"

#define TICKS_MAX 20
#define AGAIN_MAX 16
#define AGAIN_NS UINT64_C(1000000000) /* no other event of the run is handled meanwhile */
#define ENTRY_BYTES UINT64_C(4096)
#define NAME_BYTES UINT64_C(256) /* about the longest entry of a directory */

struct disk_walk {
	dev_t dev; /* of the upper: no link is followed, no mount crossed */
	/* A directory without permissions is unreadable for its owner as well, if that is not root. */
	bool denied;
	uint64_t largest;
	struct inode_set linked; /* files with several names */
};

static int open_below(struct disk_walk *w, int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	/* O_NOATIME: the run must not see where the walk is.  EPERM: the directory belongs to another id. */
	int fd = openat(dirfd, name, flags | O_NOATIME);

	if (fd < 0 && errno == EPERM)
		fd = openat(dirfd, name, flags);
	w->denied |= fd < 0 && errno == EACCES;
	return fd;
}

/* An empty file takes an inode, of which a file system has about one for each 16 KiB; another name takes an entry. */
static uint64_t count_entry(struct disk_walk *w, const struct stat *st)
{
	uint64_t bytes = (uint64_t)st->st_blocks * 512;

	if (!S_ISDIR(st->st_mode) && st->st_nlink > 1 && !inode_set_add(&w->linked, st->st_dev, st->st_ino))
		return NAME_BYTES;
	if (S_ISREG(st->st_mode) && (uint64_t)st->st_size > w->largest)
		w->largest = (uint64_t)st->st_size;
	return bytes > ENTRY_BYTES ? bytes : ENTRY_BYTES;
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
		uint64_t below;
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
		sum += count_entry(w, &st);
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

static void walk(struct disk_walk *w, const char *dir, uint64_t max, struct disk_size *ret)
{
	struct stat st;
	int fd;

	*ret = (struct disk_size){ 0 };
	if (lstat(dir, &st) < 0)
		return;
	w->dev = st.st_dev;
	fd = open_below(w, AT_FDCWD, dir);
	if (fd >= 0)
		ret->bytes = measure(w, fd, max, DISK_DEPTH_MAX);
	ret->largest = w->largest;
	inode_set_done(&w->linked);
}

/* Directories that the payload made unreadable are counted in a user namespace, by a child that does not return. */
static void walk_inside(const char *dir, const struct id_map *ids, uint64_t max, struct disk_size *ret)
{
	int fd[2];
	pid_t pid;

	*ret = (struct disk_size){ 0 };
	if (pipe2(fd, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		struct disk_walk w = { 0 };

		if (userns_enter_map(ids, NULL) < 0)
			_exit(1);
		walk(&w, dir, max, ret);
		_exit(write(fd[1], ret, sizeof(*ret)) == sizeof(*ret) ? 0 : 1);
	}
	(void)fd_close(fd[1]);
	if (pid < 0 || read(fd[0], ret, sizeof(*ret)) != sizeof(*ret))
		*ret = (struct disk_size){ 0 };
	(void)fd_close(fd[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void disk_measure(const char *dir, const struct id_map *ids, uint64_t max, struct disk_size *ret)
{
	struct disk_walk w = { 0 };
	struct disk_size inside;

	walk(&w, dir, max, ret);
	if (!w.denied)
		return;
	walk_inside(dir, ids, max, &inside);
	if (inside.bytes > ret->bytes)
		*ret = inside;
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
	*w = (struct disk_watch){
		.dir = limit ? dir : NULL, .limit = limit, .init = init, .measure = disk_measure
	};
	if (!w->dir)
		return;
	read_free(w->dir, &w->free_at_walk, &w->files_at_walk);
	w->free_most = w->free_at_walk;
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

static void measure_names(struct disk_watch *w)
{
	struct disk_size size;

	w->measure(w->dir, w->ids, w->limit, &size);
	w->size_at_walk = size.bytes;
	w->largest_at_walk = size.largest;
	if (!w->also || w->size_at_walk > w->limit)
		return;
	w->measure(w->also, w->ids, w->limit, &size);
	w->size_at_walk = size.bytes == DISK_TOO_DEEP ? DISK_TOO_DEEP : w->size_at_walk + size.bytes;
}

/*
 * Files without a name.  Where their size cannot be read, they may be all that the file system lost beyond the files
 * that were found: other processes may have written it, but only a run that hides files is blamed for it, or one that has
 * written that much itself: a Landlock rule, for example, keeps a removed file and shows nowhere.
 */
static void measure_nameless(struct disk_watch *w, uint64_t lost)
{
	struct disk_nameless held;

	disk_measure_nameless(w->init, w->cgroup, &held);
	w->size_at_walk += held.bytes;
	w->unexplained = (held.hidden || held.written > w->size_at_walk + w->limit) && lost > w->limit &&
			 lost > w->size_at_walk;
	if (w->unexplained)
		w->size_at_walk = lost;
}

/* The file system lost more than the files that were found, by enough that the run may be over its limit. */
static bool is_missing(const struct disk_watch *w, uint64_t lost)
{
	return w->size_at_walk <= w->limit && lost > w->limit &&
	       lost - w->size_at_walk > w->others + w->limit / 2;
}

/* It cannot be stopped: the walk that finds the most counts, because one that files are moved past finds less. */
static void measure_again(struct disk_watch *w)
{
	const uint64_t end = clock_boot_ns() + AGAIN_NS;
	uint64_t most = 0;

	for (unsigned int i = 0; i < AGAIN_MAX && most <= w->limit && clock_boot_ns() < end; i++) {
		measure_names(w);
		if (w->size_at_walk > most)
			most = w->size_at_walk;
	}
	w->size_at_walk = most;
}

/*
 * A run can move files that are not counted yet to where the walk has been.  So it is counted again while it stands still, or
 * several times; the rest was written by others, and is not looked for again.
 */
static void measure_missing(struct disk_watch *w, uint64_t lost)
{
	const bool stopped = w->cgroup && cgroup_freeze(w->cgroup) >= 0;

	if (stopped)
		measure_names(w);
	else
		measure_again(w);
	if (w->size_at_walk <= w->limit)
		measure_nameless(w, lost);
	if (stopped)
		cgroup_thaw(w->cgroup);
	w->others = lost > w->size_at_walk ? lost - w->size_at_walk : 0;
}

bool disk_watch_exceeds(struct disk_watch *w, bool final)
{
	uint64_t bytes, files, lost;

	if (!w->dir)
		return false;
	read_free(w->dir, &bytes, &files);
	if (bytes > w->free_most)
		w->free_most = bytes;
	if (!is_due(w, bytes, files, final))
		return false;
	lost = w->free_most - bytes;
	measure_names(w);
	if (!final && w->size_at_walk <= w->limit)
		measure_nameless(w, lost);
	if (!final && is_missing(w, lost))
		measure_missing(w, lost);
	w->free_at_walk = bytes;
	w->files_at_walk = files;
	w->ticks = 0;
	return w->size_at_walk > w->limit;
}
