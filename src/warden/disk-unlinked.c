/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/fd.h"
#include "warden/disk-watch.h"

#define FILES_MAX 4096

/*
 * Unlinked files that are still open or mapped: they have no name, but are found through their processes. Descriptors
 * queued in a socket are not found (docs/THREATS.md).
 */
struct found {
	dev_t dev[FILES_MAX];
	ino_t ino[FILES_MAX];
	size_t n;
	uint64_t bytes;
};

/* Several descriptors and mappings of one file count once. */
static bool is_new(struct found *f, const struct stat *st)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->ino[i] == st->st_ino && f->dev[i] == st->st_dev)
			return false;
	if (f->n < FILES_MAX) {
		f->dev[f->n] = st->st_dev;
		f->ino[f->n++] = st->st_ino;
	}
	return true;
}

static void look_at(struct found *f, int dirfd, const char *name)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	struct statfs fs;

	/* O_PATH: opening a device or a lease would have effects. */
	fd = openat(dirfd, name, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 0)
		return;
	/* Other file systems of the container are in memory, which has its own limit. */
	if (fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC && is_new(f, &st))
		f->bytes += (uint64_t)st.st_blocks * 512;
}

static void look_below(struct found *f, int proc, const char *pid, const char *what)
{
	_cleanup_dir_ DIR *d = NULL;
	const struct dirent *e;
	char path[48];
	int fd;

	(void)snprintf(path, sizeof(path), "%.20s/%.16s", pid, what);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	d = fdopendir(fd);
	if (!d)
		(void)fd_close(fd);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			look_at(f, dirfd(d), e->d_name);
}

static bool read_ns(int proc, const char *pid, char ret[64])
{
	char path[40];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%.20s/ns/pid", pid);
	n = readlinkat(proc, path, ret, 63);
	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

uint64_t disk_measure_nameless(pid_t init)
{
	_cleanup_dir_ DIR *proc = opendir("/proc");
	struct found *f = calloc(1, sizeof(*f));
	char self[16], wanted[64], ns[64];
	const struct dirent *e;
	uint64_t bytes;

	(void)snprintf(self, sizeof(self), "%d", (int)init);
	while (f && proc && read_ns(dirfd(proc), self, wanted) && (e = readdir(proc))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9' || !read_ns(dirfd(proc), e->d_name, ns) ||
		    strcmp(ns, wanted) != 0)
			continue;
		look_below(f, dirfd(proc), e->d_name, "fd");
		look_below(f, dirfd(proc), e->d_name, "map_files");
	}
	bytes = f ? f->bytes : 0;
	free(f);
	return bytes;
}
