/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Another process changes the tree between two system calls.  The program's own openat and statx take precedence over the
 * library's: each test acts right before one chosen call, so nothing depends on timing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/manifest-file.h"
#include "child.h"
#include "tap.h"
#include "tree-fixture.h"

#define DEEP 40 /* more levels than a removal keeps descriptors for */

static struct {
	const char *name; /* acts before this name is opened, once */
	void (*act)(void);
} before;
static ino_t younger; /* statx of this inode answers with a later mtime than the time before */
static unsigned int looks;
static struct tree *tree;

int openat(int dirfd, const char *name, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	if (flags & (O_CREAT | O_TMPFILE)) {
		va_start(ap, flags);
		mode = va_arg(ap, mode_t);
		va_end(ap);
	}
	if (before.name && strcmp(name, before.name) == 0) {
		before.name = NULL;
		before.act();
	}
	return (int)syscall(SYS_openat, dirfd, name, flags, mode);
}

int statx(int dirfd, const char *name, int flags, unsigned int mask, struct statx *ret)
{
	int r = (int)syscall(SYS_statx, dirfd, name, flags, mask, ret);

	if (r == 0 && younger && ret->stx_ino == younger)
		ret->stx_mtime.tv_sec += looks++;
	return r;
}

static void move_deepest(void)
{
	char path[DEEP * 2 + 2] = "";

	/* The directory that is being left, number DEEP - 1. */
	for (unsigned int i = 0; i < DEEP; i++)
		(void)strcat(path, i ? "/d" : "d");
	(void)!renameat(tree->fd, path, tree->fd, "outside/d");
}

/* Below the levels with a descriptor the way up is "..": it must be the directory that was entered. */
static void a_directory_moved_while_it_is_removed_takes_nothing_with_it(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF };
	_cleanup_fault_ struct fault f = { 0 };
	char path[DEEP * 2 + 2] = "";
	struct stat st;

	tree = &t;
	CHECK(tree_make(&t) && mkdirat(t.fd, "outside", 0700) == 0 &&
	      tree_put(t.fd, "outside/precious", "x", 0600));
	for (unsigned int i = 0; i < DEEP; i++) {
		(void)strcat(path, i ? "/d" : "d");
		CHECK(mkdirat(t.fd, path, 0700) == 0);
	}
	/* Else the last one is removed by its parent, and not entered. */
	(void)strcat(path, "/f");
	CHECK(tree_put(t.fd, path, "x", 0600));
	before.name = "..";
	before.act = move_deepest;
	CHECK(path_remove_tree(t.fd, "d", &f) == -EBUSY && !before.name);
	CHECK(strstr(fault_text(&f), "was moved while it was being removed"));
	CHECK(fstatat(t.fd, "outside/precious", &st, 0) == 0 && fstatat(t.fd, "outside/d", &st, 0) == 0);
	CHECK(path_remove_tree(t.fd, "d", NULL) == 0);
}

static void swap_for_link(void)
{
	(void)!unlinkat(tree->fd, "victim", 0);
	(void)!symlinkat("../secret/file", tree->fd, "victim");
}

static bool find(int out, const char *path, struct manifest_entry *ret)
{
	_cleanup_manifest_ struct manifest_file *m = NULL;
	int r = manifest_open(out, &m, NULL);

	while (r >= 0) {
		r = manifest_next(m, ret, NULL, NULL);
		if (r <= 0)
			return false;
		if (str_eq(ret->path, path))
			return true;
		manifest_entry_done(ret);
	}
	return false;
}

/* The entry is named with a reason, and no byte of the other file is stored. */
static bool is_absent(int out, const char *path, const char *why)
{
	_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
	_cleanup_free_ char *copy = NULL;
	struct stat st;

	return find(out, path, &e) && !e.at && e.why && strstr(e.why, why) &&
	       asprintf(&copy, CAPTURE_WORKTREE "/%s", path) > 0 && fstatat(out, copy, &st, 0) < 0;
}

static void ISO_5_a_file_swapped_for_a_link_is_not_followed(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
	_cleanup_close_ int work = -EBADF;
	struct tree inside;
	struct capture_stats s;

	CHECK(tree_make(&t) && tree_make(&out) && mkdirat(t.fd, "w", 0700) == 0 &&
	      mkdirat(t.fd, "secret", 0700) == 0 && tree_put(t.fd, "secret/file", "secret", 0600) &&
	      tree_put(t.fd, "w/victim", "theirs", 0600));
	work = openat(t.fd, "w", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	inside = (struct tree){ .fd = work };
	tree = &inside;
	before.name = "victim";
	before.act = swap_for_link;
	CHECK(capture_tree(work, out.fd, &(struct capture_options){ .threads = 1, .any_names = true }, &s,
			   NULL) == 0 &&
	      !before.name);
	CHECK(is_absent(out.fd, "victim", "cannot be opened"));
}

static bool capture_below_a_mount(void)
{
	_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF }, other = { .fd = -EBADF };
	char file[128], secret[128];
	struct capture_stats s;
	bool ok;

	ok = child_own_mounts() && tree_make(&t) && tree_make(&out) && tree_make(&other) &&
	     tree_put(t.fd, "f", "theirs", 0600) && tree_put(t.fd, "g", "theirs", 0600) &&
	     tree_put(other.fd, "secret", "secret", 0600);
	(void)snprintf(file, sizeof(file), "%s/f", t.path);
	(void)snprintf(secret, sizeof(secret), "%s/secret", other.path);
	ok = ok && mount(secret, file, "none", MS_BIND, NULL) == 0 &&
	     capture_tree(t.fd, out.fd, &(struct capture_options){ .threads = 1, .any_names = true }, &s,
			  NULL) == 0;
	ok = ok && is_absent(out.fd, "f", "another mount");
	(void)umount(file);
	return ok;
}

static void ISO_5_a_bind_mounted_file_is_not_captured(void)
{
	pid_t pid;
	int status;

	(void)fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(!capture_below_a_mount());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* utimensat sets the ctime to the same tick of the clock: the mtime alone may tell. */
static void a_file_whose_mtime_changed_while_it_was_read_is_unstable(void)
{
	for (int changes = 0; changes < 2; changes++) {
		_cleanup_tree_ struct tree t = { .fd = -EBADF }, out = { .fd = -EBADF };
		_cleanup_manifest_entry_ struct manifest_entry e = { 0 };
		struct capture_stats s;
		struct stat st;

		CHECK(tree_make(&t) && tree_make(&out) && tree_put(t.fd, "f", "bytes", 0600) &&
		      fstatat(t.fd, "f", &st, 0) == 0);
		younger = changes ? st.st_ino : 0;
		CHECK(capture_tree(t.fd, out.fd, &(struct capture_options){ .threads = 1, .any_names = true },
				   &s, NULL) == 0);
		younger = 0;
		CHECK(s.unstable == (uint64_t)changes && find(out.fd, "f", &e) && e.unstable == !!changes);
	}
}

TAP_MAIN(T(a_directory_moved_while_it_is_removed_takes_nothing_with_it),
	 T(ISO_5_a_file_swapped_for_a_link_is_not_followed), T(ISO_5_a_bind_mounted_file_is_not_captured),
	 T(a_file_whose_mtime_changed_while_it_was_read_is_unstable))
