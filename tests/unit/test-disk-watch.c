/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "warden/disk-watch.h"
#include "warden/inode-set.h"

#include "tap.h"

#define MAX (UINT64_C(1) << 40)

static char dir[] = "/tmp/test-disk-watch-XXXXXX";
static int at = -1;

static void a_directory_can_be_had(void)
{
	CHECK(mkdtemp(dir) != NULL);
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(at >= 0);
}

static void a_file_with_many_names_counts_once(void)
{
	struct disk_size one, many, two;
	int fd = openat(at, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char name[16];

	CHECK(fd >= 0 && ftruncate(fd, 1 << 20) == 0 && posix_fallocate(fd, 0, 1 << 20) == 0);
	disk_measure(dir, NULL, MAX, &one);
	CHECK(one.bytes >= 1 << 20 && one.bytes < 2 << 20 && one.largest == 1 << 20);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		CHECK(linkat(at, "f", at, name, 0) == 0);
	}
	disk_measure(dir, NULL, MAX, &many);
	CHECK(many.bytes > one.bytes && many.bytes < one.bytes + (64 << 10));
	/* Another file is another file, whatever its names. */
	close(fd);
	fd = openat(at, "g", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && posix_fallocate(fd, 0, 1 << 20) == 0 && linkat(at, "g", at, "h", 0) == 0);
	disk_measure(dir, NULL, MAX, &two);
	CHECK(two.bytes >= many.bytes + (1 << 20));
	close(fd);
}

/* A run could see where the walk is, and move its files behind it. */
static void a_walk_leaves_no_trace(void)
{
	const struct timespec old[] = { { .tv_sec = 1000 }, { .tv_nsec = UTIME_OMIT } };
	struct disk_size size;
	struct stat st;

	CHECK(mkdirat(at, "quiet", 0700) == 0 && utimensat(at, "quiet", old, 0) == 0 &&
	      utimensat(at, ".", old, 0) == 0);
	disk_measure(dir, NULL, MAX, &size);
	CHECK(fstatat(at, "quiet", &st, 0) == 0 && st.st_atim.tv_sec == 1000);
	CHECK(fstat(at, &st) == 0 && st.st_atim.tv_sec == 1000);
}

/* Walks of a tree that moves: each finds one of these sizes, the last one is repeated. */
#define LIMIT (UINT64_C(64) << 20)
#define WALKS_MAX (1 + 16) /* the first one, and again without a freezer */
static const uint64_t *found;
static unsigned int n_found, n_walks;

static void walk_moving_tree(const char *path, const struct id_map *ids, uint64_t max, struct disk_size *ret)
{
	(void)path;
	(void)ids;
	(void)max;
	*ret = (struct disk_size){ .bytes = found[n_walks < n_found ? n_walks : n_found - 1] };
	n_walks++;
}

/* Without a cgroup; the file system lost more than any walk finds.  No process has the pid 0: none is read. */
static struct disk_watch watch_moving_tree(const uint64_t *sizes, unsigned int n)
{
	struct disk_watch w;

	disk_watch_init(&w, dir, LIMIT, 0);
	w.measure = walk_moving_tree;
	w.free_most = w.free_at_walk = UINT64_MAX / 2;
	found = sizes;
	n_found = n;
	n_walks = 0;
	return w;
}

static void files_that_only_one_of_many_walks_finds_count(void)
{
	const uint64_t last[WALKS_MAX] = { [WALKS_MAX - 1] = LIMIT + 1 }, third[] = { 0, 0, LIMIT + 1, 0 };
	struct disk_watch w = watch_moving_tree(last, WALKS_MAX);

	CHECK(disk_watch_exceeds(&w, false) && n_walks == WALKS_MAX);
	w = watch_moving_tree(third, 4);
	CHECK(disk_watch_exceeds(&w, false) && n_walks == 3);
	CHECK(w.size_at_walk == LIMIT + 1 && !w.unexplained);
}

static void the_walk_that_finds_the_most_counts(void)
{
	const uint64_t sizes[] = { 1 << 20, 2 << 20, 32 << 20, 3 << 20 };
	struct disk_watch w = watch_moving_tree(sizes, 4);

	CHECK(!disk_watch_exceeds(&w, false) && n_walks == WALKS_MAX);
	CHECK(w.size_at_walk == 32 << 20);
}

static void what_others_wrote_is_not_searched_again(void)
{
	const uint64_t none = 0;
	struct disk_watch w = watch_moving_tree(&none, 1);

	CHECK(!disk_watch_exceeds(&w, false) && n_walks == WALKS_MAX);
	n_walks = 0;
	w.free_at_walk = UINT64_MAX / 2;
	CHECK(!disk_watch_exceeds(&w, false) && n_walks == 1);
}

/* Else a run could write as much as others remove meanwhile. */
static void space_that_others_free_hides_no_growth(void)
{
	const uint64_t none = 0;
	struct disk_watch w = watch_moving_tree(&none, 1);

	/* The file system had almost nothing free at the start; others have removed files since. */
	w.free_most = w.free_at_walk = 1;
	CHECK(!disk_watch_exceeds(&w, false) && w.free_most > 1);
	w.free_most += 2 * LIMIT;
	w.free_at_walk = w.free_most;
	n_walks = 0;
	CHECK(!disk_watch_exceeds(&w, false) && n_walks == WALKS_MAX);
}

static void inodes_are_told_apart(void)
{
	struct inode_set s = { 0 };
	bool fresh = true, again = false;

	for (ino_t i = 0; i < 10000; i++)
		fresh &= inode_set_add(&s, i % 3, i);
	for (ino_t i = 0; i < 10000; i++)
		again |= inode_set_add(&s, i % 3, i);
	CHECK(fresh && !again && s.n == 10000);
	CHECK(inode_set_add(&s, 7, 1));
	inode_set_done(&s);
}

static void too_many_levels_are_above_every_limit(void)
{
	struct disk_size size;
	int fd = fcntl(at, F_DUPFD_CLOEXEC, 3), next;

	for (int i = 0; i < DISK_DEPTH_MAX + 2; i++) {
		CHECK(mkdirat(fd, "d", 0700) == 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	close(fd);
	disk_measure(dir, NULL, MAX, &size);
	CHECK(size.bytes == DISK_TOO_DEEP);
}

static void the_directory_goes_away(void)
{
	int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(tmp >= 0 && path_remove_tree(tmp, dir + sizeof("/tmp/") - 1, NULL) >= 0);
	close(tmp);
	close(at);
}

TAP_MAIN(T(a_directory_can_be_had), T(a_file_with_many_names_counts_once), T(a_walk_leaves_no_trace),
	 T(files_that_only_one_of_many_walks_finds_count), T(the_walk_that_finds_the_most_counts),
	 T(what_others_wrote_is_not_searched_again), T(space_that_others_free_hides_no_growth),
	 T(inodes_are_told_apart), T(too_many_levels_are_above_every_limit), T(the_directory_goes_away))
