/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <time.h>

#include "profile-fixture.h"
#include "tap.h"

#define WITH_PLACE                              \
	_cleanup_place_ struct place s = { 0 }; \
	place_init(&s)

static char *at(const struct place *s, const char *name)
{
	return path_join(s->admin, name);
}

static void missing_files_say_where_was_searched(void)
{
	WITH_PLACE;

	CHECK(load_refused(&s, "nothing", s.admin));
	CHECK(load_refused(&s, "nothing", s.own));
	CHECK(load_refused(&s, "/nonexistent/x.json", "/nonexistent/x.json"));
}

static void files_that_others_can_write_are_refused(void)
{
	_cleanup_free_ char *path = NULL;
	WITH_PLACE;

	put_profile(s.admin, "a", "");
	path = at(&s, "a.json");
	CHECK(chmod(path, 0666) == 0);
	CHECK(load_refused(&s, "a", "writable by other users: chmod go-w"));
	/* A user's own group may be private: tests/integration/private-group.bats. */
	if (geteuid() != 0)
		return;
	CHECK(chmod(path, 0664) == 0);
	CHECK(load_refused(&s, "a", "writable by its group: chmod go-w"));
	CHECK(load_refused(&s, path, "writable by its group"));
}

static void files_of_other_users_are_refused(void)
{
	_cleanup_free_ char *path = NULL;
	WITH_PLACE;

	put_profile(s.admin, "a", "");
	path = at(&s, "a.json");
	if (chown(path, 12345, 12345) < 0) {
		printf("# not root: cannot create a file of another user\n");
		return;
	}
	CHECK(load_refused(&s, "a", "belongs to uid 12345, neither to root nor to you"));
}

static void links_are_not_followed(void)
{
	_cleanup_free_ char *path = NULL;
	WITH_PLACE;

	put_profile(s.admin, "a", "");
	path = at(&s, "b.json");
	CHECK(symlink("a.json", path) == 0);
	CHECK(load_refused(&s, "b", "is a symbolic link"));
	CHECK(load_refused(&s, path, "is a symbolic link"));
	CHECK(unlink(path) == 0 && symlink("gone.json", path) == 0);
	CHECK(load_refused(&s, "b", "is a symbolic link"));
}

static void odd_files_neither_hang_nor_pass(void)
{
	_cleanup_free_ char *fifo = NULL, *dir = NULL;
	WITH_PLACE;

	fifo = at(&s, "fifo.json");
	dir = at(&s, "dir.json");
	CHECK(mkfifo(fifo, 0600) == 0 && mkdir(dir, 0700) == 0);
	CHECK(load_refused(&s, "fifo", "is a FIFO, not a file"));
	CHECK(load_refused(&s, "dir", "is a directory, not a file"));
	CHECK(load_refused(&s, "/dev/zero", "is a device, not a file"));
	CHECK(load_refused(&s, "/proc/self/mem", ""));
}

static void a_huge_file_is_not_read(void)
{
	_cleanup_free_ char *path = NULL;
	struct timespec from, to;
	WITH_PLACE;

	put_profile(s.admin, "a", "");
	path = at(&s, "a.json");
	CHECK(truncate(path, 1 << 30) == 0);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	CHECK(load_refused(&s, "a", "has 1073741824 bytes, more than the limit of 262144"));
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	/* Reading a gigabyte takes more than this of processor time on any machine. */
	CHECK(to.tv_sec - from.tv_sec <= 1);
}

static void a_file_of_just_the_limit_is_read(void)
{
	_cleanup_strbuf_ struct strbuf b = { 0 };
	_cleanup_profile_ struct profile *p = NULL;
	WITH_PLACE;

	strbuf_puts(&b, "{\"schema\":1,\"name\":\"a\"}");
	while (b.len < PROFILE_SIZE_MAX)
		strbuf_putc(&b, '\n');
	put(s.admin, "a.json", b.text);
	p = load_ok(&s, "a");
	CHECK(p);
	strbuf_putc(&b, '\n');
	put(s.admin, "a.json", b.text);
	CHECK(load_refused(&s, "a", "has 262145 bytes"));
}

static void unreadable_files_say_how_to_read_them(void)
{
	_cleanup_free_ char *path = NULL;
	WITH_PLACE;

	put_profile(s.admin, "a", "");
	path = at(&s, "a.json");
	CHECK(chmod(path, 0) == 0);
	if (access(path, R_OK) == 0) {
		printf("# root reads everything: covered by the integration tests as a user\n");
		return;
	}
	CHECK(load_refused(&s, "a", "cannot be read: chmod u+r"));
}

static void binary_files_are_refused(void)
{
	WITH_PLACE;

	put(s.admin, "a.json",
	    "\x7f"
	    "ELF\x02\x01");
	CHECK(load_refused(&s, "a", "a.json:1:"));
}

TAP_MAIN(T(missing_files_say_where_was_searched), T(files_that_others_can_write_are_refused),
	 T(files_of_other_users_are_refused), T(links_are_not_followed), T(odd_files_neither_hang_nor_pass),
	 T(a_huge_file_is_not_read), T(a_file_of_just_the_limit_is_read),
	 T(unreadable_files_say_how_to_read_them), T(binary_files_are_refused))
