/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warden/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"

#define WALK_DEPTH_MAX 256
#define TICKS_MAX 20

static void dir_closep(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

/* Never through a link, never across a mount: DEV is the layer's own. */
static uint64_t measure(int fd, dev_t dev, uint64_t max, unsigned int depth)
{
	__attribute__((cleanup(dir_closep))) DIR *d = fdopendir(fd);
	const struct dirent *e;
	uint64_t sum = 0;

	if (!d) {
		(void)fd_close(fd);
		return 0;
	}
	while (sum <= max && (e = readdir(d))) {
		struct stat st;
		int sub;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != dev)
			continue;
		sum += (uint64_t)st.st_blocks * 512;
		if (!S_ISDIR(st.st_mode))
			continue;
		/* Deeper than anybody needs: counted as over, or a chain of directories would hide the rest. */
		if (depth == 0)
			return max + 1;
		sub = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			sum += measure(sub, dev, max - (sum > max ? max : sum), depth - 1);
	}
	return sum;
}

uint64_t disk_measure(const char *dir, uint64_t max)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0) {
		(void)fd_close(fd);
		return 0;
	}
	return measure(fd, st.st_dev, max, WALK_DEPTH_MAX);
}

static uint64_t free_bytes(const char *dir)
{
	struct statvfs fs;

	return statvfs(dir, &fs) < 0 ? 0 : (uint64_t)fs.f_bfree * fs.f_frsize;
}

void disk_watch_init(struct disk_watch *w, const char *dir, uint64_t limit)
{
	*w = (struct disk_watch){ .dir = limit ? dir : NULL, .limit = limit };
	if (w->dir)
		w->free_at_walk = free_bytes(w->dir);
}

bool disk_watch_exceeds(struct disk_watch *w, bool final)
{
	uint64_t left, room;

	if (!w->dir)
		return false;
	left = free_bytes(w->dir);
	room = w->limit - (w->size_at_walk > w->limit ? w->limit : w->size_at_walk);
	w->ticks++;
	/*
	 * Half of the room at a time: the layer cannot pass its limit unseen unless somebody else frees as much as
	 * it writes, and for that case it is walked now and then whenever the number moved.
	 */
	if (!final && left + room / 2 > w->free_at_walk && (left == w->free_at_walk || w->ticks < TICKS_MAX))
		return false;
	w->size_at_walk = disk_measure(w->dir, w->limit);
	w->free_at_walk = left;
	w->ticks = 0;
	return w->size_at_walk > w->limit;
}
