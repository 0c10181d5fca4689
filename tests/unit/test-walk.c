/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/str.h"
#include "tap.h"

struct tree {
	char path[64];
	int fd;
};

static bool tree_make(struct tree *t)
{
	(void)snprintf(t->path, sizeof(t->path), "/tmp/custody-walk.XXXXXX");
	t->fd = mkdtemp(t->path) ? open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -EBADF;
	return t->fd >= 0;
}

static void tree_done(struct tree *t)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	fd_close(t->fd);
	if (t->path[0] && path_remove_tree(tmp, t->path + strlen("/tmp/"), NULL) < 0)
		printf("# %s was not removed\n", t->path);
}
#define _cleanup_tree_ _cleanup_(tree_done)

static bool touch(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	return fd >= 0;
}

/* All events in one text: "+dir/ file -dir/ !error". */
static char *story(int rootfd, unsigned int flags)
{
	_cleanup_walk_ struct walk *w = NULL;
	_cleanup_strbuf_ struct strbuf out = { 0 };
	struct walk_entry e;
	int r;

	if (walk_new(rootfd, flags, &w, NULL) < 0)
		return NULL;
	while ((r = walk_next(w, &e, NULL)) > 0) {
		static const char *const marks[] = { "", "+", "-", "", "!" };

		strbuf_printf(&out, "%s%s%s", out.len ? " " : "", marks[r], *e.path ? e.path : ".");
	}
	return r == 0 ? strbuf_take(&out) : NULL;
}

static bool tells(int rootfd, const char *want)
{
	_cleanup_free_ char *text = story(rootfd, WALK_SORTED);

	return str_eq(text, want);
}

static void a_tree_is_walked_in_order(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };

	CHECK(tree_make(&t) && mkdirat(t.fd, "b", 0700) == 0 && mkdirat(t.fd, "b/e", 0700) == 0);
	CHECK(touch(t.fd, "c") && touch(t.fd, "b/z") && touch(t.fd, "a") &&
	      symlinkat("/etc", t.fd, "d") == 0);
	CHECK(tells(t.fd, "+. a +b +b/e -b/e b/z -b c d -."));
}

static void a_directory_can_be_skipped(void)
{
	for (unsigned int flags = 0; flags <= WALK_SORTED; flags++) {
		_cleanup_tree_ struct tree t = { .fd = -EBADF };
		_cleanup_walk_ struct walk *w = NULL;
		struct walk_entry e;
		int r, seen = 0;

		CHECK(tree_make(&t) && mkdirat(t.fd, "b", 0700) == 0 && touch(t.fd, "b/z") &&
		      touch(t.fd, "c"));
		CHECK(walk_new(t.fd, flags, &w, NULL) == 0);
		while ((r = walk_next(w, &e, NULL)) > 0) {
			CHECK(r != WALK_ERROR && !str_eq(e.path, "b/z"));
			seen++;
			if (r == WALK_ENTER && str_eq(e.path, "b"))
				walk_skip(w);
		}
		CHECK(r == 0 && seen == 5);
	}
}

static void links_are_never_followed(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };

	CHECK(tree_make(&t) && symlinkat(".", t.fd, "loop") == 0 && symlinkat("/", t.fd, "root") == 0 &&
	      symlinkat("gone", t.fd, "dangling") == 0);
	CHECK(tells(t.fd, "+. dangling loop root -."));
}

/* Deeper than a path may be long, wider than one read of a directory, with names left on each level. */
static void ten_thousand_levels_are_walked_down_and_up(void)
{
	const int deep = tap_stride() > 1 ? 500 : 10000;

	for (unsigned int flags = 0; flags <= WALK_SORTED; flags++) {
		_cleanup_tree_ struct tree t = { .fd = -EBADF };
		_cleanup_walk_ struct walk *w = NULL;
		_cleanup_close_ int fd = -EBADF;
		int r, dirs = 0, files = 0, left = 0;
		struct walk_entry e;

		CHECK(tree_make(&t));
		fd = dup(t.fd);
		for (int i = 0; i < deep; i++) {
			_cleanup_close_ int up = TAKE_FD(fd);

			CHECK(touch(up, "a") && mkdirat(up, "level-of-it", 0700) == 0 && touch(up, "z"));
			fd = openat(up, "level-of-it", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			CHECK(fd >= 0);
		}
		CHECK(walk_new(t.fd, flags, &w, NULL) == 0);
		while ((r = walk_next(w, &e, NULL)) > 0) {
			CHECK(r != WALK_ERROR);
			dirs += r == WALK_ENTER;
			left += r == WALK_LEAVE;
			files += r == WALK_ENTRY;
		}
		CHECK(r == 0 && dirs == deep + 1 && left == dirs && files == 2 * deep);
	}
}

/* 17,000 names of 250 bytes are a path of more than 4 MiB; that takes minutes under valgrind. */
static void names_alone_have_no_limit_of_depth(void)
{
	const int levels = tap_has("CUSTODY_TEST_VALGRIND", "1") ? 1000 : 17000;
	const bool is_too_long = levels > 16777;

	for (unsigned int flags = 0; flags <= WALK_NAMES_ONLY; flags += WALK_NAMES_ONLY) {
		_cleanup_tree_ struct tree t = { .fd = -EBADF };
		_cleanup_walk_ struct walk *w = NULL;
		_cleanup_close_ int fd = -EBADF;
		int r, dirs = 0, errors = 0;
		struct walk_entry e;
		char name[251];

		memset(name, 'd', 250);
		name[250] = '\0';
		CHECK(tree_make(&t));
		fd = dup(t.fd);
		for (int i = 0; i < levels; i++) {
			_cleanup_close_ int up = TAKE_FD(fd);

			CHECK(mkdirat(up, name, 0700) == 0);
			fd = openat(up, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			CHECK(fd >= 0);
		}
		CHECK(walk_new(t.fd, flags, &w, NULL) == 0);
		while ((r = walk_next(w, &e, NULL)) > 0) {
			dirs += r == WALK_ENTER;
			errors += r == WALK_ERROR;
			if (flags && r == WALK_ENTER)
				CHECK(str_eq(e.path, e.name) && e.path_len == (e.depth ? 250 : 0));
		}
		CHECK(flags || !is_too_long ? dirs == levels + 1 && errors == 0 : errors == 1);
	}
}

static void a_wide_directory_gives_each_name_once(void)
{
	const int wide = tap_stride() > 1 ? 300 : 20000;
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	_cleanup_walk_ struct walk *w = NULL;
	_cleanup_free_ bool *seen = calloc((size_t)wide, 1);
	struct walk_entry e;
	int r, n = 0;

	CHECK(seen && tree_make(&t));
	for (int i = 0; i < wide; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "%030d", i);
		CHECK(touch(t.fd, name));
	}
	CHECK(walk_new(t.fd, 0, &w, NULL) == 0);
	while ((r = walk_next(w, &e, NULL)) > 0) {
		uint64_t i;

		if (r != WALK_ENTRY)
			continue;
		CHECK(str_to_u64(e.name, &i) == 0 && i < (uint64_t)wide && !seen[i] && e.stx.stx_size == 0);
		seen[i] = true;
		n++;
	}
	CHECK(r == 0 && n == wide);
}

static void an_unreadable_file_is_an_entry(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	int status;
	pid_t pid;

	CHECK(tree_make(&t) && mkdirat(t.fd, "shut", 0) == 0 && touch(t.fd, "z") && chmod(t.path, 0755) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(1);
		if (tells(t.fd, "+. !shut z -."))
			_exit(0);
		_exit(2);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* In a mount namespace of its own; a user without one cannot mount anything either. */
static void other_mounts_are_named_and_not_entered(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	int status;
	pid_t pid;

	CHECK(tree_make(&t) && mkdirat(t.fd, "m", 0700) == 0 && touch(t.fd, "f") && touch(t.fd, "z"));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		_cleanup_close_ int fd = -EBADF;
		char m[80], file[80];

		(void)snprintf(m, sizeof(m), "%s/m", t.path);
		(void)snprintf(file, sizeof(file), "%s/f", t.path);
		if (unshare(CLONE_NEWNS) < 0)
			_exit(geteuid() == 0 ? 1 : 0);
		/* A bind of the same file system: the device alone does not give it away. */
		if (mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("/tmp", m, "", MS_BIND, NULL) < 0 ||
		    mount("/etc/passwd", file, "", MS_BIND, NULL) < 0)
			_exit(2);
		fd = open(t.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* t.fd is on the mount that was */
		_exit(tells(fd, "+. !f !m z -.") ? 0 : 3);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Another process exchanges a directory of the tree with a link to one outside, all the time. */
static void a_swapped_directory_never_leads_outside(void)
{
	const int rounds = tap_stride() > 1 ? 20 : 2000;
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	int status, bad = 0;
	pid_t pid;

	CHECK(tree_make(&t) && tree_make(&out) && touch(out.fd, "secret"));
	CHECK(mkdirat(t.fd, "d", 0700) == 0 && touch(t.fd, "d/mine") && symlinkat(out.path, t.fd, "l") == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		for (;;)
			(void)renameat2(t.fd, "d", t.fd, "l", RENAME_EXCHANGE);
	for (int i = 0; i < rounds; i++) {
		_cleanup_free_ char *text = story(t.fd, 0);

		bad += !text || strstr(text, "secret") != NULL;
	}
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
	CHECK(bad == 0);
}

/* Far down, where descriptors were given back, the directory we are in is moved: the walk continues. */
static void a_way_back_that_is_lost_ends_one_branch_only(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	_cleanup_walk_ struct walk *w = NULL;
	_cleanup_close_ int fd = -EBADF;
	int r, errors = 0, depth_moved = 60;
	bool saw_last = false, moved = false;
	struct walk_entry e;

	CHECK(tree_make(&t) && touch(t.fd, "z-last"));
	fd = dup(t.fd);
	for (int i = 0; i < 100; i++) {
		_cleanup_close_ int up = TAKE_FD(fd);

		CHECK(mkdirat(up, "d", 0700) == 0 && touch(up, "z"));
		fd = openat(up, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK(fd >= 0);
	}
	CHECK(walk_new(t.fd, WALK_SORTED, &w, NULL) == 0);
	while ((r = walk_next(w, &e, NULL)) > 0) {
		if (r == WALK_ENTER && e.depth == 100 && !moved) {
			_cleanup_free_ char *path = strdup(e.path);

			path[2 * depth_moved - 1] = '\0';
			CHECK(renameat(t.fd, path, t.fd, "elsewhere") == 0);
			moved = true;
		}
		errors += r == WALK_ERROR;
		saw_last |= r == WALK_ENTRY && str_eq(e.path, "z-last");
	}
	CHECK(r == 0 && moved && errors > 0 && saw_last);
}

TAP_MAIN(T(a_tree_is_walked_in_order), T(a_directory_can_be_skipped), T(links_are_never_followed),
	 T(ten_thousand_levels_are_walked_down_and_up), T(names_alone_have_no_limit_of_depth),
	 T(a_wide_directory_gives_each_name_once), T(an_unreadable_file_is_an_entry),
	 T(other_mounts_are_named_and_not_entered), T(a_swapped_directory_never_leads_outside),
	 T(a_way_back_that_is_lost_ends_one_branch_only))
