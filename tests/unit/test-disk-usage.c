/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/disk-usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

#include "tap.h"

#define SIZE 65536

static char root[] = "/tmp/custody-usage-XXXXXX";

static bool put(int dir, const char *name)
{
	static const char bytes[SIZE] = { 1 };
	_cleanup_close_ int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd >= 0 && fd_write_all(fd, bytes, sizeof(bytes), NULL) == 0 && fsync(fd) == 0;
}

static int make(const char *name)
{
	_cleanup_close_ int top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return mkdirat(top, name, 0700) < 0 ? -errno : openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_about(uint64_t bytes, uint64_t want)
{
	return bytes >= want && bytes < want + SIZE;
}

static void a_file_of_two_trees_counts_once(void)
{
	_cleanup_disk_usage_ struct disk_usage *u = NULL;
	_cleanup_close_ int a = make("a"), b = make("b");
	struct disk_usage_size one, two;

	CHECK(a >= 0 && b >= 0 && put(a, "own") && put(a, "both"));
	/* Twice in each tree. */
	CHECK(linkat(a, "both", a, "again", 0) == 0 && linkat(a, "both", b, "both", 0) == 0 &&
	      linkat(a, "both", b, "again", 0) == 0);
	CHECK(symlinkat("/", b, "way-out") == 0 && mkfifoat(b, "pipe", 0600) == 0);
	CHECK(disk_usage_new(&u, NULL) == 0 && disk_usage_measure(u, a, &one, NULL) == 0 &&
	      disk_usage_measure(u, b, &two, NULL) == 0);
	CHECK(is_about(one.bytes, 2 * SIZE) && one.shared == 0 && one.entries == 4 && !one.partial);
	CHECK(two.bytes < SIZE && is_about(two.shared, SIZE) && two.entries == 5);
}

static uint64_t bytes_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static void many_files_with_two_names_are_told_apart(void)
{
	enum { FILES = 3000 };
	_cleanup_disk_usage_ struct disk_usage *u = NULL;
	_cleanup_close_ int c = make("c"), d = make("d");
	struct disk_usage_size one, two;
	bool ok = c >= 0 && d >= 0;

	for (int i = 0; ok && i < FILES; i++) {
		char name[16];
		_cleanup_close_ int fd = -EBADF;

		(void)snprintf(name, sizeof(name), "%d", i);
		fd = openat(c, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		ok = fd >= 0 && fd_write_all(fd, name, 1, NULL) == 0 && linkat(c, name, d, name, 0) == 0;
	}
	sync();
	CHECK(ok && disk_usage_new(&u, NULL) == 0 && disk_usage_measure(u, c, &one, NULL) == 0);
	CHECK(disk_usage_measure(u, d, &two, NULL) == 0);
	CHECK(one.entries == FILES + 1 && one.shared == 0 && two.shared > 0);
	/* The directories alone.  They may differ: a fragmented one has a block more for its extents. */
	CHECK(two.bytes < one.bytes && two.bytes == bytes_of(d) && two.shared + bytes_of(c) == one.bytes);
}

static void start(void)
{
	CHECK(mkdtemp(root));
}

static void end(void)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(path_remove_tree(tmp, strrchr(root, '/') + 1, NULL) == 0);
}

TAP_MAIN(T(start), T(a_file_of_two_trees_counts_once), T(many_files_with_two_names_are_told_apart), T(end))
