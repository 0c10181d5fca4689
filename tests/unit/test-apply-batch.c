/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches of apply: each change is counted once, a batch ends when the disk is full, and no temporary entry is left then. */
#include <dirent.h>

#include "base/array.h"
#include "overlay-files.h"
#include "tap.h"

#define BIG 65536

struct seen {
	unsigned int n[8];
	char names[8][16];
	size_t used;
};

static void note(void *arg, const struct change *ch)
{
	struct seen *s = arg;
	size_t i;

	for (i = 0; i < s->used && strcmp(s->names[i], ch->path) != 0; i++)
		;
	if (i == ARRAY_SIZE(s->n))
		return;
	(void)snprintf(s->names[i], sizeof(s->names[i]), "%s", ch->path);
	s->n[i]++;
	if (i == s->used)
		s->used++;
}

static int apply_counted(const struct overlay *o, size_t batch, struct apply_stats *stats, struct seen *seen)
{
	_cleanup_changes_ struct changes c = { 0 };
	_cleanup_fault_ struct fault f = { 0 };
	int fds[2], r = -EIO;

	if (overlay_collect(o, fds, &c))
		r = review_judge(&c, &(struct review_ask){ .base = fds[1] }, &f);
	if (r == 0)
		r = apply_changes(&c,
				  &(struct apply_ask){ .upper = fds[0],
						       .base = fds[1],
						       .session = "test",
						       .batch = batch,
						       .files_min = batch % 2,
						       .applied = seen ? note : NULL,
						       .arg = seen },
				  stats, &f);
	if (r < 0)
		printf("# %s\n", fault_text(&f));
	fd_close(fds[0]);
	fd_close(fds[1]);
	return r;
}

/* Removed entries between a new directory and the next entry belong to neither. */
static bool count_once(const char *options, unsigned int batch)
{
	struct apply_stats stats = { 0 };
	struct seen seen = { 0 };
	struct overlay o;
	bool ok;

	ok = overlay_make(&o, options) && put("l/b", "old", 0644) && put("l/d", "old", 0644) &&
	     overlay_mount(&o) && mkdir("m/a", 0755) == 0 && put("m/a/x", "new", 0644) &&
	     unlink("m/b") == 0 && put("m/c", "new", 0644) && put("m/d", "new", 0644) &&
	     chmod("m", 0755) == 0 && overlay_unmount(&o);
	ok = ok && apply_counted(&o, batch, &stats, &seen) == 0;
	printf("# %zu written, %zu deleted, %zu modes\n", stats.written, stats.deleted, stats.modes);
	ok = ok && stats.written == 4 && stats.deleted == 1 && seen.used == 5;
	for (size_t i = 0; i < seen.used; i++)
		ok = ok && seen.n[i] == 1;
	ok = ok && has("l/a/x", "new") && !is_there("l/b") && has("l/c", "new") && has("l/d", "new");
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok;
}

static void each_change_is_counted_once(void)
{
	for (unsigned int batch = 0; batch < 4; batch++)
		CHECK(overlay_in_child(count_once, "userxattr", batch));
}

static bool fill(const char *path, char byte)
{
	static char text[BIG];
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	memset(text, byte, sizeof(text));
	return fd >= 0 && write(fd, text, sizeof(text)) == (ssize_t)sizeof(text);
}

static bool is_filled(const char *path, char byte)
{
	static char text[BIG];
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text)) != (ssize_t)sizeof(text))
		return false;
	for (size_t i = 0; i < sizeof(text); i++)
		if (text[i] != byte)
			return false;
	return true;
}

static size_t count_leftovers(const char *dir)
{
	const struct dirent *e;
	DIR *d = opendir(dir);
	size_t n = 0;

	while (d && (e = readdir(d)))
		n += strncmp(e->d_name, ".custody-apply-", 15) == 0;
	if (d)
		(void)closedir(d);
	return n;
}

static bool fill_all(const char *dir, unsigned int n, char byte)
{
	bool ok = true;

	for (unsigned int i = 0; i < n && ok; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "%s/f%02u", dir, i);
		ok = fill(path, byte);
	}
	return ok;
}

/* How many of them are new; -1: one is neither. */
static int count_new(unsigned int n, bool may_miss)
{
	int new = 0;

	for (unsigned int i = 0; i < n; i++) {
		char path[32];

		(void)snprintf(path, sizeof(path), "l/f%02u", i);
		if (is_filled(path, 'n'))
			new ++;
		else if (!is_filled(path, 'o') && !(may_miss && !is_there(path)))
			return -1;
	}
	return new;
}

/* Room for the old files and three more. */
static bool replace_with_little_room(const char *options, unsigned int seed)
{
	struct apply_stats stats = { 0 };
	struct overlay o;
	bool ok;

	(void)seed;
	ok = overlay_make(&o, options) && mount("tmpfs", "l", "tmpfs", 0, "size=832k") == 0 &&
	     fill_all("l", 10, 'o') && fill_all("u", 10, 'n');
	ok = ok && apply_counted(&o, 0, &stats, NULL) == 0 && stats.written == 10 &&
	     count_new(10, false) == 10 && !count_leftovers("l");
	(void)umount("l");
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok;
}

static void a_batch_ends_where_the_room_does(void)
{
	CHECK(overlay_in_child(replace_with_little_room, "userxattr", 0));
}

/* Twenty files, and room for about thirteen, ten of which are there. */
static bool fill_the_disk(const char *options, unsigned int in_directory)
{
	struct apply_stats stats = { 0 };
	struct overlay o;
	int new;
	bool ok;

	ok = overlay_make(&o, options) && mount("tmpfs", "l", "tmpfs", 0, "size=832k") == 0 &&
	     fill_all("l", 10, 'o') && fill_all("u", 20, 'n');
	if (in_directory)
		ok = ok && mkdir("u/a", 0755) == 0 && fill_all("u/a", 20, 'n');
	ok = ok && apply_counted(&o, 0, &stats, NULL) == -ENOSPC && !count_leftovers("l") && !is_there("l/a");
	new = count_new(20, true);
	ok = ok && new >= 0 && (size_t) new == stats.written && (in_directory ? new == 0 : new >= 10);
	printf("# %d are new, %zu were counted\n", new, stats.written);
	/* With more room the same command does the rest. */
	ok = ok && mount("tmpfs", "l", "tmpfs", MS_REMOUNT, "size=8m") == 0;
	ok = ok && apply_counted(&o, 0, &stats, NULL) == 0 && count_new(20, false) == 20 &&
	     (!in_directory || is_filled("l/a/f19", 'n'));
	(void)umount("l");
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok;
}

static void a_full_disk_leaves_old_or_new_and_no_leftovers(void)
{
	CHECK(overlay_in_child(fill_the_disk, "userxattr", 0));
	CHECK(overlay_in_child(fill_the_disk, "userxattr", 1));
}

/* Called behind each change: is d open to others while an old file is in it? */
static void look_at_mode(void *arg, const struct change *ch)
{
	struct stat st;
	bool *open = arg;

	(void)ch;
	if ((has("l/d/secret", "old") || is_there("l/d/gone")) && stat("l/d", &st) == 0 && (st.st_mode & 077))
		*open = true;
}

static int apply_watched(const struct overlay *o, bool *open)
{
	_cleanup_changes_ struct changes c = { 0 };
	struct apply_stats stats = { 0 };
	int fds[2], r = -EIO;

	if (overlay_collect(o, fds, &c))
		r = review_judge(&c, &(struct review_ask){ .base = fds[1] }, NULL);
	if (r == 0)
		r = apply_changes(&c,
				  &(struct apply_ask){ .upper = fds[0],
						       .base = fds[1],
						       .session = "test",
						       .applied = look_at_mode,
						       .arg = open },
				  &stats, NULL);
	fd_close(fds[0]);
	fd_close(fds[1]);
	return r;
}

/* A private directory gets the mode NEW; a file in it becomes private instead, and another one is removed. */
static bool open_a_directory(const char *options, unsigned int new)
{
	struct overlay o;
	struct stat st;
	bool open = false, ok;

	ok = overlay_make(&o, options) && mkdir("l/d", 0700) == 0 && put("l/d/secret", "old", 0644) &&
	     put("l/d/gone", "old", 0644) && put("l/e", "old", 0644) && overlay_mount(&o) &&
	     put("m/d/secret", "new", 0600) && chmod("m/d/secret", 0600) == 0 && unlink("m/d/gone") == 0 &&
	     put("m/e", "new", 0644) && chmod("m/d", new) == 0 && overlay_unmount(&o);
	ok = ok && apply_watched(&o, &open) == 0 && stat("l/d", &st) == 0 &&
	     (st.st_mode & 07777) == new &&has("l/d/secret", "new") && !is_there("l/d/gone");
	(void)!chdir("/");
	tree_done(&o.tree);
	return ok && !open;
}

static void a_directory_is_opened_when_its_content_is_complete(void)
{
	CHECK(overlay_in_child(open_a_directory, "userxattr", 0755));
	CHECK(overlay_in_child(open_a_directory, "userxattr", 0711));
	CHECK(overlay_in_child(open_a_directory, "userxattr", 0555));
}

TAP_MAIN(T(a_directory_is_opened_when_its_content_is_complete), T(each_change_is_counted_once),
	 T(a_batch_ends_where_the_room_does), T(a_full_disk_leaves_old_or_new_and_no_leftovers))
