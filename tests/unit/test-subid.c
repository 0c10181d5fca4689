/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state/subid.h"

#include <errno.h>

#include "tap.h"

/* Of the user ada, uid 1000. */
static const struct subid_ask ada = { .file = "/etc/subuid",
				      .name = "ada",
				      .uid = 1000,
				      .self = 1000,
				      .reserved_first = 1879048192,
				      .reserved_last = 2147483647 };

/* "0:1000:1,..." of TEXT, or the fault. */
static char *choose(const char *text, int *ret_r)
{
	_cleanup_fault_ struct fault f = { 0 };
	_cleanup_strbuf_ struct strbuf b = { 0 };
	struct id_extents e = { 0 };

	*ret_r = subid_choose(text, strlen(text), &ada, &e, &f);
	if (*ret_r < 0)
		strbuf_puts(&b, fault_text(&f));
	else
		id_extents_write(&e, &b);
	return strbuf_take(&b);
}

static bool gives(const char *text, const char *extents)
{
	int r;
	_cleanup_free_ char *got = choose(text, &r);

	return r == 0 && str_eq(got, extents);
}

static bool fails(const char *text, int code, const char *reason)
{
	int r;
	_cleanup_free_ char *got = choose(text, &r);

	return r == -code && got && strstr(got, reason);
}

static void PLAT_3_ranges_are_found_by_name_and_by_uid(void)
{
	CHECK(gives("ada:100000:65536\n", "0:1000:1,1:100000:65535"));
	CHECK(gives("1000:100000:65536", "0:1000:1,1:100000:65535"));
	CHECK(gives("# comment\n\nbob:100000:65536\nada:165536:10\n", "0:1000:1,1:165536:10"));
	CHECK(gives("ada:100000:10\n1000:100000:10\n", "0:1000:1,1:100000:10"));
}

static void PLAT_3_several_ranges_are_used_until_enough_ids_are_mapped(void)
{
	CHECK(gives("ada:300000:5\nada:100000:10\n", "0:1000:1,1:300000:5,6:100000:10"));
	CHECK(gives("ada:100000:65000\nada:300000:65536\n", "0:1000:1,1:100000:65000,65001:300000:535"));
	CHECK(gives("ada:100000:65536\nada:300000:65536\n", "0:1000:1,1:100000:65535"));
	/* More than the kernel returns in the order in which they were written. */
	CHECK(gives("ada:100000:1\nada:200000:1\nada:300000:1\nada:400000:1\nada:500000:1\n",
		    "0:1000:1,1:100000:1,2:200000:1,3:300000:1,4:400000:1"));
}

static void PLAT_3_a_user_without_a_range_has_none(void)
{
	CHECK(fails("", ENOENT, "has no range of user 'ada'"));
	CHECK(fails("ad:100000:10\nadam:200000:10\n100:300000:10\n10000:400000:10\n", ENOENT, "no range"));
}

static void PLAT_3_ranges_with_other_ids_are_refused(void)
{
	CHECK(fails("ada:0:65536\n", EPERM, "contains 0, the host's root"));
	CHECK(fails("ada:500:1000\n", EPERM, "contains the caller's own id"));
	CHECK(fails("ada:1879000000:65536\n", EPERM, "id_range"));
	CHECK(fails("ada:2147483647:1\n", EPERM, "id_range"));
	CHECK(gives("ada:2147483648:1\n", "0:1000:1,1:2147483648:1"));
	/* The second range as well, though the first one has enough ids. */
	CHECK(fails("ada:100000:65536\nada:0:10\n", EPERM, "line 2 of '/etc/subuid', 0 to 9, contains 0"));
}

static void PLAT_3_ranges_that_overlap_are_refused(void)
{
	CHECK(fails("ada:100000:65536\nbob:165535:1\n", EPERM,
		    "lines 1 and 2 of '/etc/subuid' overlap: 'bob' has ids of 'ada'"));
	CHECK(fails("bob:100000:65536\nada:100000:65536\n", EPERM, "'bob' has ids of 'ada'"));
	CHECK(fails("ada:100000:10\nada:100005:10\n", EPERM, "give each id once"));
	CHECK(gives("ada:100000:65536\nbob:165536:1\ncyd:99999:1\n", "0:1000:1,1:100000:65535"));
	/* Of others: not the caller's. */
	CHECK(gives("bob:100000:10\ncyd:100000:10\nada:200000:1\n", "0:1000:1,1:200000:1"));
}

static void PLAT_3_a_line_that_cannot_be_read_refuses_the_file(void)
{
	static const char *const lines[] = {
		"bob",
		"bob:1",
		"bob:1:2:3",
		":1:2",
		"bob::2",
		"bob:1:",
		"bob:x:2",
		"bob:1:y",
		"bob: 100000:1",
		"bob:0x10:1",
		"bob:-1:5",
		"bob:1:0",
		"bob:1:99999999999",
		"bob:4294967295:1",
		"bob:4294967290:6",
		"bob:1:2 ",
		"\tbob:1:2x",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_strbuf_ struct strbuf b = { 0 };

		strbuf_printf(&b, "ada:100000:65536\n%s\n", lines[i]);
		CHECK(fails(b.text, EINVAL, "line 2 of '/etc/subuid' is not NAME:FIRST:COUNT"));
	}
	CHECK(gives("ada:4294967290:5\n", "0:1000:1,1:4294967290:5"));
}

static void PLAT_3_ids_of_accounts_are_refused(void)
{
	static const char accounts[] = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n"
				       "broken\nodd:x:y:1\nbob:x:100007:100::/home/bob:/bin/sh\n";
	struct id_extents e = { .at = { { 0, 1000, 1 }, { 1, 100000, 8 } }, .n = 2 };
	_cleanup_fault_ struct fault f = { 0 };

	CHECK(subid_require_free(accounts, strlen(accounts), "user", &e, &f) == -EPERM);
	CHECK(strstr(fault_text(&f), "contain 100007, which is user 'bob'"));
	e.at[1].count = 7;
	CHECK(subid_require_free(accounts, strlen(accounts), "user", &e, NULL) == 0);
	e.at[1].outside = 100008;
	CHECK(subid_require_free(accounts, strlen(accounts), "user", &e, NULL) == 0);
}

static bool accepts(const char *text)
{
	return subid_require_files(text, strlen(text), NULL) == 0;
}

static void PLAT_3_only_the_files_are_a_source(void)
{
	CHECK(accepts("") && accepts("passwd: files systemd\n") && accepts("subid: files\n"));
	CHECK(accepts("# subid: sss\n") && accepts("subids: sss\n") && accepts("subid:\n"));
	CHECK(accepts("subid: files # sss\n"));
	CHECK(!accepts("subid: sss\n") && !accepts("passwd: files\n  subid:\tsss files"));
	CHECK(!accepts("subid: files sss\n"));
}

TAP_MAIN(T(PLAT_3_ranges_are_found_by_name_and_by_uid),
	 T(PLAT_3_several_ranges_are_used_until_enough_ids_are_mapped),
	 T(PLAT_3_a_user_without_a_range_has_none), T(PLAT_3_ranges_with_other_ids_are_refused),
	 T(PLAT_3_ranges_that_overlap_are_refused), T(PLAT_3_a_line_that_cannot_be_read_refuses_the_file),
	 T(PLAT_3_ids_of_accounts_are_refused), T(PLAT_3_only_the_files_are_a_source))
