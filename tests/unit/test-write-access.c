/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/write-access.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "tap.h"

#define PASSWD                                                                                             \
	"root:x:0:0:root:/root:/bin/bash\nwww-data:x:33:33::/:/bin/false\nsam:x:1000:1000:Sam:/home/sam:/" \
	"bin/sh\n"
#define GROUPS "root:x:0:\nwww-data:x:33:\nusers:x:100:\nsam:x:1000:\n"
#define NSSWITCH "# comment\npasswd:         files systemd\ngroup: files systemd\nhosts: files dns\n"

static void PLAT_3_the_group_of_one_user_is_private(void)
{
	CHECK(group_is_private(GROUPS, PASSWD, NSSWITCH, 1000, 1000));
	CHECK(group_is_private(GROUPS, PASSWD, "", 1000, 1000));
	/* The list may name the user, and the last line need not end. */
	CHECK(group_is_private("sam:x:1000:sam", PASSWD, NSSWITCH, 1000, 1000));
	CHECK(group_is_private("sam:x:1000:sam,\n", PASSWD, NSSWITCH, 1000, 1000));
}

static void PLAT_3_a_group_that_another_account_is_in_is_not_private(void)
{
	static const struct {
		const char *groups, *passwd, *nsswitch;
	} cases[] = {
		{ "sam:x:1000:www-data\n", PASSWD, NSSWITCH },
		{ "sam:x:1000:sam,www-data\n", PASSWD, NSSWITCH },
		{ "sam:x:1000:samuel\n", PASSWD, NSSWITCH },
		{ "sam:x:1000:sa\n", PASSWD, NSSWITCH },
		/* A second line of the same number, in any spelling that a reader takes. */
		{ GROUPS "crew:x:1000:www-data\n", PASSWD, NSSWITCH },
		{ GROUPS "crew:x:01000:www-data\n", PASSWD, NSSWITCH },
		{ GROUPS "crew:x:+1000:www-data\n", PASSWD, NSSWITCH },
		{ GROUPS "crew:x: 1000:www-data\n", PASSWD, NSSWITCH },
		{ GROUPS "+:::\n", PASSWD, NSSWITCH },
		/* The primary group of another account, or not the user's. */
		{ GROUPS, PASSWD "alex:x:1001:1000::/:/bin/sh\n", NSSWITCH },
		{ GROUPS, PASSWD "alex:x:1001:01000::/:/bin/sh\n", NSSWITCH },
		{ GROUPS, PASSWD "+::::::\n", NSSWITCH },
		{ GROUPS, "sam:x:1000:100::/:/bin/sh\n", NSSWITCH },
		/* Two names of one user: which of them is in a list? */
		{ GROUPS, PASSWD "sam2:x:1000:1000::/:/bin/sh\n", NSSWITCH },
		/* No group or no user of this number. */
		{ "root:x:0:\n", PASSWD, NSSWITCH },
		{ GROUPS, "root:x:0:0::/:/bin/sh\n", NSSWITCH },
		{ "", "", "" },
		/* Members that these files do not show. */
		{ GROUPS, PASSWD, "passwd: files\ngroup: files ldap\n" },
		{ GROUPS, PASSWD, "passwd: files sss\ngroup: files\n" },
		{ GROUPS, PASSWD, "group: filesystem\n" },
		{ GROUPS, PASSWD, "group: files [SUCCESS=merge] sss\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool private =
			group_is_private(cases[i].groups, cases[i].passwd, cases[i].nsswitch, 1000, 1000);

		if (private)
			printf("# case %zu\n", i);
		CHECK(!private);
	}
	/* Another user's group. */
	CHECK(!group_is_private(GROUPS, PASSWD, NSSWITCH, 33, 1000));
	CHECK(!group_is_private(GROUPS, PASSWD, NSSWITCH, 100, 1000));
}

/* Of a group that is no account's own. */
static bool is_shared(mode_t mode)
{
	char path[] = "/tmp/custody-test-write.XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	struct stat st;

	if (fd < 0 || unlink(path) < 0 || fchmod(fd, mode) < 0 || fstat(fd, &st) < 0)
		abort();
	st.st_gid = 987654321;
	return write_access_is_shared(fd, &st);
}

static void PLAT_3_write_access_of_others_and_of_a_group_is_shared(void)
{
	CHECK(!is_shared(0600) && !is_shared(0755 & ~0022U) && !is_shared(0644));
	CHECK(is_shared(0602) && is_shared(0620) && is_shared(0666) && is_shared(02770));
}

TAP_MAIN(T(PLAT_3_the_group_of_one_user_is_private),
	 T(PLAT_3_a_group_that_another_account_is_in_is_not_private),
	 T(PLAT_3_write_access_of_others_and_of_a_group_is_shared))
