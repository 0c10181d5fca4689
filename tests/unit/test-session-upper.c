/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "session/session-upper.h"
#include "tap.h"
#include "tree-fixture.h"

#define DAY (UINT64_C(24) * 3600 * 1000000)

static struct session_upper sample(void)
{
	struct session_upper k = {
		.session = "20261116T031500Z-1a2b3c4d",
		.worktree = (char *)"/srv/work",
		.device = 5,
		.inode = UINT64_C(1) << 40,
		.notes = OVERLAY_XATTR_TRUSTED,
		.ids = { .set = true, .uid_from = 1879048192, .uid_to = 1000, .gid_from = 7, .gid_to = 100 },
		.since_us = 17,
		.ended_us = 18,
		.boot = "0123abcd",
		.bytes = 4096
	};

	return k;
}

static void a_written_file_is_read_back(void)
{
	_cleanup_tree_ struct tree t;
	_cleanup_session_upper_ struct session_upper got = { 0 };
	static char *protect[] = { (char *)".git/hooks", (char *)"a b", NULL };
	struct session_upper k = sample();

	CHECK(tree_make(&t));
	k.protect = protect;
	k.ask = protect;
	k.ask_deletions = 3;
	CHECK(session_upper_write(t.fd, &k, NULL) == 0 && session_upper_read(t.fd, &got, NULL) == 0);
	CHECK(str_eq(got.session, k.session) && str_eq(got.worktree, k.worktree) && got.inode == k.inode);
	CHECK(got.notes == k.notes && got.ids.set && got.ids.uid_from == k.ids.uid_from &&
	      got.ids.gid_to == 100);
	CHECK(got.since_us == 17 && str_eq(got.boot, k.boot) && strv_len(got.protect) == 2);
	CHECK(strv_len(got.ask) == 2 && strv_len(got.allow) == 0 && got.ask_deletions == 3);
	CHECK(session_upper_remove(t.fd, NULL) == 0 && session_upper_read(t.fd, &got, NULL) == -ENOENT);
}

/* An upper that an older version kept has no names and no number of its own. */
static void a_file_without_questions_gets_the_usual_number(void)
{
	static const char *const old = "{\"boot\":\"0123abcd\",\"bytes\":1,\"device\":5,\"ended_us\":18,"
				       "\"gid_from\":7,\"gid_to\":7,\"inode\":9,\"mapped\":true,\"notes\":"
				       "\"user\",\"protect\":[],\"rootless\":false,\"schema_version\":1,"
				       "\"session\":\"20261116T031500Z-1a2b3c4d\",\"since_us\":17,"
				       "\"uid_from\":7,\"uid_to\":7,\"worktree\":\"/srv/work\"%s}";
	_cleanup_tree_ struct tree t;
	_cleanup_session_upper_ struct session_upper got = { 0 }, none = { 0 };

	CHECK(tree_make(&t));
	for (int part = 0; part < 2; part++) {
		int fd = openat(t.fd, SESSION_UPPER_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		CHECK(fd >= 0 && dprintf(fd, old, part ? ",\"ask_deletions\":1" : "") > 0);
		(void)close(fd);
		if (part == 0)
			CHECK(session_upper_read(t.fd, &got, NULL) == 0 && strv_len(got.ask) == 0 &&
			      strv_len(got.allow) == 0 && got.ask_deletions == SESSION_UPPER_ASK_DELETIONS);
		else
			CHECK(session_upper_read(t.fd, &none, NULL) < 0);
	}
}

static void files_that_others_can_write_or_with_unknown_keys_are_refused(void)
{
	_cleanup_tree_ struct tree t;
	_cleanup_session_upper_ struct session_upper got = { 0 };
	struct session_upper k = sample();

	CHECK(tree_make(&t));
	CHECK(session_upper_write(t.fd, &k, NULL) == 0 && fchmodat(t.fd, SESSION_UPPER_FILE, 0666, 0) == 0);
	CHECK(session_upper_read(t.fd, &got, NULL) == -EPERM);
	CHECK(unlinkat(t.fd, SESSION_UPPER_FILE, 0) == 0 &&
	      tree_put(t.fd, SESSION_UPPER_FILE, "{\"schema_version\":1,\"x\":1}", 0600));
	CHECK(session_upper_read(t.fd, &got, NULL) < 0);
	CHECK(unlinkat(t.fd, SESSION_UPPER_FILE, 0) == 0 &&
	      symlinkat("/etc/passwd", t.fd, SESSION_UPPER_FILE) == 0);
	CHECK(session_upper_read(t.fd, &got, NULL) < 0);
}

static void the_oldest_goes_first(void)
{
	struct session_upper items[] = {
		{ .session = "a", .ended_us = 1 * DAY, .bytes = 10 },
		{ .session = "b", .ended_us = 6 * DAY, .bytes = 50 },
		{ .session = "c", .ended_us = 7 * DAY, .bytes = 30 },
		{ .session = "d", .ended_us = 99 * DAY, .bytes = 40 },
	};
	const struct session_upper_list l = { .items = items, .n = 4 };
	const char *v[4];

	session_upper_judge(&l, 8 * DAY, 7, 1000, NULL, v);
	CHECK(str_eq(v[0], "too-old") && !v[1] && !v[2] && !v[3]);
	session_upper_judge(&l, 8 * DAY, 8, 70, NULL, v);
	CHECK(str_eq(v[0], "over-quota") && str_eq(v[1], "over-quota") && !v[2] && !v[3]);
	/* The newest upper stays, however large, and a clock that was set back makes none of them old. */
	session_upper_judge(&l, 8 * DAY, 0, 1, "c", v);
	CHECK(v[0] && v[1] && !v[2] && str_eq(v[3], "over-quota"));
	session_upper_judge(&l, 0, 1, 1000, NULL, v);
	CHECK(!v[0] && !v[1] && !v[2] && !v[3]);
}

static void a_base_is_not_evicted_before_its_children(void)
{
	char base[] = "a", *chain[] = { base, NULL };
	struct session_upper items[] = {
		{ .session = "a", .ended_us = 1, .bytes = 50 },
		{ .session = "b", .ended_us = 2, .bytes = 10 },
		{ .session = "c", .ended_us = 3, .bytes = 50, .chain = chain },
	};
	struct session_upper_list l = { .items = items, .n = 3 };
	const char *v[3];

	session_upper_judge(&l, 4, 7, 100, NULL, v);
	CHECK(!v[0] && str_eq(v[1], "over-quota") && !v[2]);
	CHECK(session_upper_is_base(&l, "a") && !session_upper_is_base(&l, "b"));
	l.items[2].chain = NULL;
	session_upper_judge(&l, 4, 7, 100, NULL, v);
	CHECK(str_eq(v[0], "over-quota") && !v[1] && !v[2]);
}

static void a_chain_is_read_back(void)
{
	_cleanup_tree_ struct tree t;
	_cleanup_session_upper_ struct session_upper got = { 0 };
	char one[] = "one", two[] = "two", *chain[] = { one, two, NULL };
	struct session_upper k = sample();

	CHECK(tree_make(&t));
	k.chain = chain;
	CHECK(session_upper_write(t.fd, &k, NULL) == 0 && session_upper_read(t.fd, &got, NULL) == 0);
	CHECK(strv_len(got.chain) == 2 && str_eq(got.chain[0], "one") && str_eq(got.chain[1], "two"));
}

static void one_that_is_too_large_alone_evicts_no_other(void)
{
	struct session_upper items[] = {
		{ .session = "a", .ended_us = 1, .bytes = 10 },
		{ .session = "b", .ended_us = 2, .bytes = 10 },
		{ .session = "huge", .ended_us = 3, .bytes = 1000 },
	};
	const struct session_upper_list l = { .items = items, .n = 3 };
	const char *v[3];

	session_upper_judge(&l, 4, 7, 100, "huge", v);
	CHECK(!v[0] && !v[1] && !v[2]);
	session_upper_judge(&l, 4, 7, 100, "b", v);
	CHECK(!v[0] && !v[1] && str_eq(v[2], "over-quota"));
}

static void names_of_one_file_are_counted_once(void)
{
	_cleanup_tree_ struct tree t;
	static char block[65536];
	struct session_upper k = { 0 };
	char name[16];
	int fd;

	CHECK(tree_make(&t));
	fd = openat(t.fd, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, block, sizeof(block)) == sizeof(block) && fsync(fd) == 0);
	(void)close(fd);
	for (int i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "l%d", i);
		CHECK(linkat(t.fd, "f", t.fd, name, 0) == 0);
	}
	CHECK(session_upper_measure(t.fd, &k, NULL) == 0 && k.bytes >= sizeof(block) / 2 &&
	      k.bytes < 4 * sizeof(block));
	CHECK(k.files == 101);
}

TAP_MAIN(T(a_written_file_is_read_back), T(a_file_without_questions_gets_the_usual_number),
	 T(files_that_others_can_write_or_with_unknown_keys_are_refused), T(a_chain_is_read_back),
	 T(the_oldest_goes_first), T(a_base_is_not_evicted_before_its_children),
	 T(one_that_is_too_large_alone_evicts_no_other), T(names_of_one_file_are_counted_once))
