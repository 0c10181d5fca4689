/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/disposable-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "tap.h"

static const char *const parts[] = { "home", "tmp", NULL };

struct place {
	char path[sizeof("/tmp/custody-test-disposable.XXXXXX")];
	int fd; /* of PATH */
};

static void place_done(struct place *p)
{
	_cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)fd_close(p->fd);
	(void)!path_remove_tree(tmp, p->path + strlen("/tmp/"), NULL);
}

static bool place_make(struct place *p)
{
	memcpy(p->path, "/tmp/custody-test-disposable.XXXXXX", sizeof(p->path));
	if (!mkdtemp(p->path))
		return false;
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return p->fd >= 0;
}

#define WITH_PLACE                                               \
	_cleanup_(place_done) struct place p = { .fd = -EBADF }; \
	_cleanup_fault_ struct fault f = { 0 };                  \
	CHECK(place_make(&p))

/* The check of part "home" of NAME, as a user of the module does it. */
static int check(const struct place *p, const char *name, enum lane lane, struct fault *f)
{
	_cleanup_close_ int fd = openat(p->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int home = openat(fd, "home", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 || home < 0 ? -EBADF : disposable_dir_check(fd, name, "home", home, lane, f);
}

static bool says(const struct fault *f, const char *text)
{
	if (strstr(fault_text(f), text))
		return true;
	printf("# '%s' lacks '%s'\n", fault_text(f), text);
	return false;
}

/* Refused, and the reason has TEXT. */
static bool refuses(const struct place *p, const char *name, const char *text)
{
	_cleanup_fault_ struct fault f = { 0 };

	return check(p, name, LANE_SANDBOX, &f) == -EPERM && says(&f, text) && says(&f, "rm '");
}

static void a_made_directory_is_disposable_and_an_ordinary_one_is_not(void)
{
	struct stat st;
	WITH_PLACE;

	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, &f) == 1);
	CHECK(check(&p, "a", LANE_SANDBOX, &f) == 1);
	CHECK(fstatat(p.fd, "a", &st, 0) == 0 && (st.st_mode & 07777) == 0700);
	CHECK(fstatat(p.fd, "a/tmp", &st, 0) == 0 && (st.st_mode & 07777) == 0700);
	CHECK(fstatat(p.fd, "a/" DISPOSABLE_STAMP, &st, 0) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(mkdirat(p.fd, "b", 0700) == 0 && mkdirat(p.fd, "b/home", 0700) == 0);
	CHECK(check(&p, "b", LANE_SANDBOX, &f) == 0);
	/* It stays what it was made as. */
	CHECK(disposable_dir_make(p.fd, "b", parts, LANE_SANDBOX, &f) == 0);
	CHECK(check(&p, "b", LANE_SANDBOX, &f) == 0);
	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, &f) == 0);
	CHECK(check(&p, "a", LANE_SANDBOX, &f) == 1);
}

static void prod_has_none(void)
{
	WITH_PLACE;

	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_PROD, &f) == -LANE_REFUSED &&
	      says(&f, "sandbox lane"));
	CHECK(faccessat(p.fd, "a", F_OK, 0) < 0);
	fault_done(&f);
	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, &f) == 1);
	CHECK(check(&p, "a", LANE_PROD, &f) == -EPERM && says(&f, "sandbox lane"));
}

static void a_copied_stamp_is_refused(void)
{
	WITH_PLACE;

	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, &f) == 1);
	CHECK(mkdirat(p.fd, "b", 0700) == 0 && mkdirat(p.fd, "b/home", 0700) == 0);
	CHECK(renameat(p.fd, "a/" DISPOSABLE_STAMP, p.fd, "b/" DISPOSABLE_STAMP) == 0);
	CHECK(refuses(&p, "b", "another directory"));
}

static void another_directory_in_place_of_a_part_is_refused(void)
{
	WITH_PLACE;

	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, &f) == 1);
	CHECK(mkdirat(p.fd, "precious", 0700) == 0 && renameat(p.fd, "a/home", p.fd, "old") == 0 &&
	      renameat(p.fd, "precious", p.fd, "a/home") == 0);
	CHECK(refuses(&p, "a", "another directory"));
	/* A part under the name of another part, too. */
	CHECK(renameat(p.fd, "a/home", p.fd, "precious") == 0 &&
	      renameat(p.fd, "a/tmp", p.fd, "a/home") == 0);
	CHECK(refuses(&p, "a", "another directory"));
	/* The inode of a removed part may be used again; its birth time is not. */
	CHECK(unlinkat(p.fd, "a/home", AT_REMOVEDIR) == 0 && mkdirat(p.fd, "a/home", 0700) == 0);
	CHECK(refuses(&p, "a", "another directory"));
}

static bool put_stamp(const struct place *p, const char *text, size_t len)
{
	_cleanup_close_ int fd =
		openat(p->fd, "a/" DISPOSABLE_STAMP, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);

	return fd >= 0 && fd_write_all(fd, text, len, NULL) == 0;
}

static void a_damaged_stamp_is_refused(void)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -EBADF;
	char huge[8192], other[4096];
	size_t len;
	WITH_PLACE;

	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, &f) == 1);
	fd = openat(p.fd, "a/" DISPOSABLE_STAMP, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && fd_read_all(fd, sizeof(other), &text, &len, &f) == 0);
	for (size_t n = 0; n < strcspn(strchr(text, '\n') + 1, "\n") + strcspn(text, "\n") + 2; n++) {
		_cleanup_fault_ struct fault why = { 0 };

		CHECK(put_stamp(&p, text, n) && check(&p, "a", LANE_SANDBOX, &why) < 0);
	}
	(void)snprintf(other, sizeof(other), "prod%s", strchr(text, '\n'));
	CHECK(put_stamp(&p, other, strlen(other)) && refuses(&p, "a", "sandbox lane"));
	(void)snprintf(other, sizeof(other), "sandbox2%s", strchr(text, '\n'));
	CHECK(put_stamp(&p, other, strlen(other)) && refuses(&p, "a", "sandbox lane"));
	memcpy(other, text, len);
	other[len] = '\0';
	CHECK(put_stamp(&p, other, len + 1) && refuses(&p, "a", "another directory"));
	memset(huge, '\n', sizeof(huge));
	CHECK(put_stamp(&p, huge, sizeof(huge)) && check(&p, "a", LANE_SANDBOX, &f) < 0);
	CHECK(put_stamp(&p, text, len) && check(&p, "a", LANE_SANDBOX, NULL) == 1);
}

static void a_stamp_of_another_kind_is_refused(void)
{
	WITH_PLACE;

	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, &f) == 1);
	CHECK(linkat(p.fd, "a/" DISPOSABLE_STAMP, p.fd, "twin", 0) == 0 && refuses(&p, "a", "one link"));
	CHECK(unlinkat(p.fd, "twin", 0) == 0 && check(&p, "a", LANE_SANDBOX, &f) == 1);
	CHECK(fchmodat(p.fd, "a/" DISPOSABLE_STAMP, 0666, 0) == 0 && refuses(&p, "a", "mode"));
	CHECK(fchmodat(p.fd, "a/" DISPOSABLE_STAMP, 0600, 0) == 0 && check(&p, "a", LANE_SANDBOX, &f) == 1);
	if (geteuid() == 0) {
		CHECK(fchownat(p.fd, "a/" DISPOSABLE_STAMP, 64321, 64321, 0) == 0 &&
		      refuses(&p, "a", "owner"));
		CHECK(fchownat(p.fd, "a/" DISPOSABLE_STAMP, 0, 0, 0) == 0);
	}
	CHECK(renameat(p.fd, "a/" DISPOSABLE_STAMP, p.fd, "real") == 0 &&
	      symlinkat("../real", p.fd, "a/" DISPOSABLE_STAMP) == 0 && refuses(&p, "a", "symbolic link"));
	CHECK(unlinkat(p.fd, "a/" DISPOSABLE_STAMP, 0) == 0 &&
	      mkfifoat(p.fd, "a/" DISPOSABLE_STAMP, 0600) == 0 && refuses(&p, "a", "regular file"));
	CHECK(unlinkat(p.fd, "a/" DISPOSABLE_STAMP, 0) == 0 &&
	      mkdirat(p.fd, "a/" DISPOSABLE_STAMP, 0700) == 0 && refuses(&p, "a", "regular file"));
}

static void the_rest_of_a_killed_process_is_no_obstacle(void)
{
	WITH_PLACE;

	CHECK(mkdirat(p.fd, ".disposable", 0700) == 0 && mkdirat(p.fd, ".disposable/home", 0) == 0);
	CHECK(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, &f) == 1 &&
	      check(&p, "a", LANE_SANDBOX, &f) == 1);
	CHECK(faccessat(p.fd, ".disposable", F_OK, AT_SYMLINK_NOFOLLOW) < 0);
	/* Nor is a link of its name followed. */
	CHECK(mkdirat(p.fd, "precious", 0700) == 0 && mkdirat(p.fd, "precious/x", 0700) == 0 &&
	      symlinkat("precious", p.fd, ".disposable") == 0);
	CHECK(disposable_dir_make(p.fd, "b", parts, LANE_SANDBOX, &f) == 1 &&
	      check(&p, "b", LANE_SANDBOX, &f) == 1);
	CHECK(faccessat(p.fd, "precious/x", F_OK, 0) == 0);
}

static void many_makers_at_once_make_one(void)
{
	int made = 0;
	WITH_PLACE;

	for (int i = 0; i < 16; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(disposable_dir_make(p.fd, "a", parts, LANE_SANDBOX, NULL) == 1 ? 7 : 0);
		CHECK(pid > 0);
	}
	for (int i = 0; i < 16; i++) {
		int status = 0;

		CHECK(wait(&status) > 0 && WIFEXITED(status));
		made += WEXITSTATUS(status) == 7;
	}
	CHECK(made == 1 && check(&p, "a", LANE_SANDBOX, &f) == 1);
}

TAP_MAIN(T(a_made_directory_is_disposable_and_an_ordinary_one_is_not), T(prod_has_none),
	 T(a_copied_stamp_is_refused), T(another_directory_in_place_of_a_part_is_refused),
	 T(a_damaged_stamp_is_refused), T(a_stamp_of_another_kind_is_refused),
	 T(the_rest_of_a_killed_process_is_no_obstacle), T(many_makers_at_once_make_one))
