/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "setup/setup-record.h"
#include "setup/setup-subid.h"

#include "tap.h"

static int check(const char *text, const char **ret_why)
{
	const struct setup_subid_file file = { .path = "/etc/subuid",
					       .kind = "user",
					       .self = 1000,
					       .text = (char *)text,
					       .names = (char *)"alice:x:1000:1000::/:/bin/sh\n"
								"bob:x:200000:200000::/:/bin/sh\n" };
	static struct fault f;
	int r;

	fault_done(&f);
	r = setup_subid_check(&file, "alice", 1000, &f);
	*ret_why = r < 0 ? fault_text(&f) : "";
	return r;
}

static void PLAT_3_a_range_is_found_by_name_and_by_number(void)
{
	static const struct {
		const char *text;
		int has;
	} rows[] = {
		{ "", 0 },
		{ "alice:100000:65536\n", 1 },
		{ "1000:100000:65536", 1 },
		{ "bob:1:2\nalice:100000:1", 1 },
		{ "alicea:100000:65536\nalic:1:1\n10000:1:1\n", 0 },
		{ "#alice:1:2\n\nbob:5:6\n", 0 },
	};
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(check(rows[i].text, &why) == rows[i].has);
}

/* A run refuses these, so setup does not say that the user has ids, and adds none beside them. */
static void PLAT_3_a_line_that_a_run_refuses_is_refused(void)
{
	static const char *const rows[] = {
		"alice:100000:0\n", "alice:100000\n", "bob::5\nalice:100000:65536\n",
		"alice:x:5\n",	    ":1:2\n",	      "alice:1:99999999999999999999\n",
		"alice:0:65536\n",  "alice:1000:1\n", "alice:1879048192:65536\n",
	};
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(check(rows[i], &why) < 0);
		CHECK(strstr(why, "'/etc/subuid'"));
	}
}

static void PLAT_3_a_range_that_overlaps_is_refused_by_both_names(void)
{
	static const char *const overlapping[] = {
		"alice:100000:65536\nbob:165535:1\n",
		"bob:165535:1\nalice:100000:65536\n",
		"alice:100000:65536\nbob:99999:2\n",
		"alice:100000:10\nbob:1:4294967294\n",
		"alice:1:1\nalice:100000:65536\nbob:100000:65536\n",
	};
	static const char *const apart[] = {
		"alice:100000:65536\nbob:165536:65536\n",
		"bob:99999:1\nalice:100000:65536\n",
		"alice:100000:65536\nalice:100000:65536\n1000:100000:65536\n",
		"bob:1:10\ncarol:1:10\nalice:100000:1\n",
	};
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(overlapping); i++) {
		CHECK(check(overlapping[i], &why) == -EPERM);
		CHECK(strstr(why, "'alice'") && strstr(why, "'bob'"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(apart); i++)
		CHECK(check(apart[i], &why) == 1);
}

static void PLAT_3_a_range_with_the_id_of_an_account_is_refused(void)
{
	const char *why;

	CHECK(check("alice:199990:10\n", &why) == 1);
	CHECK(check("alice:199991:10\n", &why) == -EPERM);
	CHECK(strstr(why, "200000, which is user 'bob'"));
}

static bool is_free(const char *text, const char *names)
{
	const struct setup_subid_file file = {
		.path = "/etc/subgid", .kind = "group", .text = (char *)text, .names = (char *)names
	};

	return setup_subid_is_free(&file, 100000);
}

static void PLAT_3_a_start_is_free_only_if_no_id_after_it_is_taken(void)
{
	CHECK(is_free("", ""));
	CHECK(is_free("bob:165536:1\n", "dev:x:165536:\nops:x:99999:\n"));
	CHECK(!is_free("bob:165535:1\n", ""));
	CHECK(is_free("bob:99999:1\n", ""));
	CHECK(!is_free("bob:99999:2\n", ""));
	CHECK(!is_free("bob:1:1000000\n", ""));
	CHECK(!is_free("", "dev:x:165535:\n"));
	CHECK(!is_free("", "dev:x:100000:\n"));
}

static char dir[] = "/tmp/custody-test-setup-XXXXXX";

static char *content(const char *path)
{
	char *text = NULL;

	return setup_subid_read(path, &text, NULL, NULL) == 0 ? text : NULL;
}

static void PLAT_3_a_line_is_added_and_removed_without_a_trace(void)
{
	static const char *const before[] = { "", "bob:1:2\n", "bob:1:2", "\n", "# comment\nbob:1:2\n\n" };
	char path[64];

	CHECK(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/subuid", dir);
	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
		_cleanup_free_ char *added = NULL, *again = NULL;

		CHECK(fd_write_all(fd, before[i], strlen(before[i]), NULL) == 0);
		CHECK(setup_subid_has_line(path, "alice:5:6", NULL) == 0);
		CHECK(setup_subid_add_line(path, "alice:5:6", NULL) == 0);
		CHECK(setup_subid_add_line(path, "alice:5:6", NULL) == 0);
		CHECK(setup_subid_has_line(path, "alice:5:6", NULL) == 1);
		added = content(path);
		CHECK(str_ends(added, "alice:5:6\n") && strlen(added) <= strlen(before[i]) + 11);
		CHECK(setup_subid_remove_line(path, "alice:5:6", setup_subid_state(before[i], true), NULL) ==
		      0);
		again = content(path);
		CHECK(str_eq(again, before[i]));
	}
	(void)unlink(path);
	CHECK(setup_subid_add_line(path, "alice:5:6", NULL) == 0);
	CHECK(setup_subid_remove_line(path, "alice:5:6", setup_subid_state("", false), NULL) == 0);
	CHECK(access(path, F_OK) < 0);
	/* Others added a line meanwhile: the file stays. */
	CHECK(setup_subid_add_line(path, "alice:5:6", NULL) == 0);
	CHECK(setup_subid_add_line(path, "bob:50:6", NULL) == 0);
	CHECK(setup_subid_remove_line(path, "alice:5:6", "absent", NULL) == 0);
	CHECK(setup_subid_has_line(path, "bob:50:6", NULL) == 1);
	(void)unlink(path);
	{
		static const char damaged[] = "bob:50:6\n\0\ncarol:60:6\n";
		_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
		char text[sizeof(damaged)];

		CHECK(fd_write_all(fd, damaged, sizeof(damaged) - 1, NULL) == 0);
		CHECK(setup_subid_add_line(path, "alice:5:6", NULL) == -EINVAL);
		CHECK(setup_subid_remove_line(path, "bob:50:6", "", NULL) == -EINVAL);
		CHECK(pread(fd, text, sizeof(text), 0) == sizeof(damaged) - 1);
		CHECK(memcmp(text, damaged, sizeof(damaged) - 1) == 0);
	}
	(void)unlink(path);
	CHECK(symlink("/etc/passwd", path) == 0);
	CHECK(setup_subid_add_line(path, "alice:5:6", NULL) < 0);
	(void)unlink(path);
	CHECK(rmdir(dir) == 0);
}

static void PLAT_3_a_record_survives_its_file(void)
{
	_cleanup_setup_record_ struct setup_record r = { .user = { .uid = 1000 } }, back = { 0 };
	const struct setup_change line = { .kind = SETUP_LINE,
					   .path = (char *)"/etc/subuid",
					   .text = (char *)"a:1:2",
					   .before = (char *)"open" };
	const struct setup_change file = { .kind = SETUP_FILE,
					   .path = (char *)"/etc/x \" y",
					   .text = (char *)"1\n2\n" };
	_cleanup_close_ int fd = -EBADF;
	uid_t uid = 0;

	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
	CHECK(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r.user.name = strdup("alice");
	CHECK(setup_list_add(&r.changes, &line, NULL) == 0 && setup_list_add(&r.changes, &file, NULL) == 0);
	CHECK(setup_record_save(fd, &r, NULL) == 0);
	CHECK(setup_record_load(fd, 1000, &back, NULL) == 0);
	CHECK(back.changes.n == 2 && str_eq(back.user.name, "alice") && back.user.uid == 1000);
	CHECK(setup_list_find(&back.changes, &line) &&
	      str_eq(setup_list_find(&back.changes, &line)->before, "open"));
	CHECK(setup_list_find(&back.changes, &file));
	CHECK(setup_record_shares(fd, 1000, "/etc/subuid", NULL) == 0);
	CHECK(setup_record_shares(fd, 1001, "/etc/subuid", NULL) == 1);
	CHECK(setup_record_shares(fd, 1001, "/etc/subgid", NULL) == 0);
	CHECK(setup_record_find(fd, "alice", &uid, NULL) == 1 && uid == 1000);
	CHECK(setup_record_find(fd, "bob", &uid, NULL) == 0);
	CHECK(setup_record_remove(fd, 1000, NULL) == 0 && setup_record_remove(fd, 1000, NULL) == 0);
	CHECK(rmdir(dir) == 0);
}

TAP_MAIN(T(PLAT_3_a_range_is_found_by_name_and_by_number), T(PLAT_3_a_line_that_a_run_refuses_is_refused),
	 T(PLAT_3_a_range_that_overlaps_is_refused_by_both_names),
	 T(PLAT_3_a_range_with_the_id_of_an_account_is_refused),
	 T(PLAT_3_a_start_is_free_only_if_no_id_after_it_is_taken),
	 T(PLAT_3_a_line_is_added_and_removed_without_a_trace), T(PLAT_3_a_record_survives_its_file))
